import { systemRandom } from '@/lib/base/chance'
import { type KeyRing, openKeyRing } from '@/lib/ect/keys-file'
import { resealCheckpoints } from '@/lib/server/reseal'
import { openStore } from '@/lib/store/open'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'

/**
 * `holdpoint rotate-key`: a new key signs from now on; former ones go on verifying. `--sealing`: a new key seals
 * checkpoints instead. `--reseal`: what is sealed under former keys is sealed anew under the current one; cut short, it
 * is simply asked for again. A running server takes all of it up within a minute. Exits 5 when a state does not open.
 */
export async function rotateKeyCommand(options: {
  data?: string
  sealing?: boolean
  reseal?: boolean
}): Promise<number> {
  const folder = dataFolder(options.data)
  const ring = openKeyRing(folder.keys, Date.now())
  if (options.sealing) {
    ring.rotateSealing(Date.now())
    console.log(
      `Checkpoints are sealed with ${ring.sealing.current.keyId} from now on; former ones still open.`,
    )
  } else if (!options.reseal) {
    const before = ring.current.kid
    ring.rotate(Date.now())
    console.log(
      `Tokens are signed with ${ring.current.kid} from now on; what ${before} signed still verifies.`,
    )
  }
  return options.reseal ? reseal(folder.path, ring) : exitCode.ok
}

async function reseal(folder: string, ring: KeyRing): Promise<number> {
  const store = await openStore(folder)
  try {
    const { resealed, unopened } = await resealCheckpoints(store.checkpoints, ring.sealing, systemRandom)
    console.log(
      `${resealed} checkpoints are sealed anew with ${ring.sealing.current.keyId}. What a running server sealed with the former key before it took up this one is sealed anew by asking again in a minute.`,
    )
    if (unopened.length === 0) return exitCode.ok
    console.error(
      `${unopened.length} do not open and stay as they are, the first of them ${unopened.slice(0, 5).join(', ')}; a rollback would refuse them.`,
    )
    return exitCode.failed
  } finally {
    await store.close()
  }
}
