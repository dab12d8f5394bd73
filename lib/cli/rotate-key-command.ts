import { openKeyRing } from '@/lib/ect/keys-file'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'

/**
 * `holdpoint rotate-key`: a new key signs from now on; former ones go on verifying. A running server takes it up within
 * a minute.
 */
export function rotateKeyCommand(options: { data?: string; sealing?: boolean }): number {
  const { keys } = dataFolder(options.data)
  const ring = openKeyRing(keys, Date.now())
  if (options.sealing) {
    ring.rotateSealing(Date.now())
    console.log(
      `Checkpoints are sealed with ${ring.sealing.current.keyId} from now on; former ones still open.`,
    )
  } else {
    const before = ring.current.kid
    ring.rotate(Date.now())
    console.log(
      `Tokens are signed with ${ring.current.kid} from now on; what ${before} signed still verifies.`,
    )
  }
  return exitCode.ok
}
