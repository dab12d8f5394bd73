import { statSync } from 'node:fs'
import { isProblem } from '@/lib/base/problem'
import { parseKeySet, type VerificationKeys } from '@/lib/ect/keys'
import { bundleMaxBytes } from '@/lib/server/bundle/bundle'
import type { BundleVerdict } from '@/lib/server/bundle/verdict'
import { verifyBundle } from '@/lib/server/bundle/verify-bundle'
import { exitCode } from './exit-codes'
import { readBytes, readText } from './parse-options'
import { progressLine } from './progress'
import { UsageError } from './usage-error'

/** `holdpoint verify BUNDLE`: exit 0 when every byte holds; else 5, naming the first thing that does not. Needs no network. */
export async function verifyCommand(
  bundle: string,
  options: { keys?: string; json?: boolean },
): Promise<number> {
  const size = statSync(bundle, { throwIfNoEntry: false })?.size ?? 0
  if (size > bundleMaxBytes) {
    throw new UsageError(`${bundle} has ${size} bytes; a bundle has at most ${bundleMaxBytes}`)
  }
  const keys = options.keys === undefined ? undefined : trustedKeys(options.keys)
  const progress = progressLine()
  const verdict = await verifyBundle(readBytes(bundle), {
    ...(keys && { keys }),
    onProgress: (done, total) => progress.say(`Verified ${done} of ${total} tokens`),
  })
  progress.over()
  if (options.json) console.log(JSON.stringify(verdict))
  else tell(bundle, verdict, options.keys)
  return verdict.holds ? exitCode.ok : exitCode.failed
}

/** Keys from a file that its reader trusts. Throws UsageError. */
export function trustedKeys(file: string): VerificationKeys {
  try {
    const keys = parseKeySet(JSON.parse(readText(file)))
    if (keys.size > 0) return keys
  } catch (error) {
    if (error instanceof UsageError) throw error
    const why = isProblem(error) ? error.message : 'it is not JSON'
    throw new UsageError(`${file} is not a key set: ${why}`)
  }
  throw new UsageError(`${file} has no key that can verify; expected a JWK set with ES256 or EdDSA keys`)
}

/** Tells people what the verdict is, on standard output. */
export function tell(bundle: string, verdict: BundleVerdict, keysFile: string | undefined): void {
  if (!verdict.holds) {
    for (const { entry, sentence, code } of verdict.failures) {
      console.log(`${bundle} does not hold${entry ? `, in ${entry}` : ''}: ${sentence} [${code}]`)
    }
    return
  }
  const { edition, run, workflow, tokens, runs, heads, values, leftOut, at, keysGiven, signedBy } = verdict
  const when = edition === 1 ? 'exported' : 'as of'
  console.log(`${bundle} holds: ${run} of "${workflow}", ${when} ${new Date(at).toISOString()}`)
  const below = runs > 1 ? ` of ${runs} runs` : ''
  const counts = [
    `${counted(tokens, 'token')}${below}`,
    counted(heads, 'signed head'),
    counted(values, 'value'),
  ]
  console.log(`  ${counts.join(', ')}; every byte is covered`)
  if (leftOut > 0)
    console.log(`  ${counted(leftOut, 'value')} named by tokens and left out, each listed with its reason`)
  console.log(`  signed by ${signedBy.kid} (thumbprint ${signedBy.thumbprint})`)
  if (verdict.signedByAgents > 0) {
    const said = counted(verdict.signedByAgents, 'token')
    console.log(`  ${said} of agents, each checked with that agent’s own keys`)
  }
  for (const note of verdict.notes) console.log(`  note: ${note}`)
  if (keysGiven) {
    console.log(`  checked against your keys in ${keysFile}`)
    return
  }
  console.log(
    '  checked against the keys in the bundle itself: it is whole, but only these keys say who signed it:',
  )
  for (const { kid, thumbprint } of verdict.keys) console.log(`    ${kid}  ${thumbprint}`)
  console.log('  compare the thumbprint with the installation’s, or give its keys with --keys')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
