import type { Json, JsonObject } from '@/lib/base/json'
import type { Installation } from '@/lib/server/installation'
import type { ForkEffect, ForkPlanView } from '@/lib/view/fork-wire'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { inKnownInstallation } from './known-installation'
import { readBytes } from './parse-options'
import { tellOutcome } from './run-command'
import { UsageError } from './usage-error'

export interface ForkOptions {
  at: number
  toVersion?: string
  artifact?: string[]
  input?: Json
  forReal?: boolean
  plan?: boolean
  reason?: string
  timeoutSecs?: number
  data?: string
  json?: boolean
  intelUnix?: string
  intelHttp?: string
  mcpStdio?: string
}

/** Side effects that are named one by one. */
const listed = 20

/**
 * `holdpoint fork RUN --at SEQ`: a new run from a moment of another, run to its end or until it waits; a dry run unless
 * `--for-real` is given. What would happen again goes to standard error first; the outcome to standard output, as of `run`.
 */
export async function forkCommand(run: string, options: ForkOptions): Promise<number> {
  const { runOnce } = await import('@/lib/server/one-shot')
  const { forkPlan, forkRun } = await import('@/lib/server/forks')
  const { runIdFrom } = await import('@/lib/server/run-id')
  const original = runIdFrom(run)
  const { at, toVersion, input, reason } = options
  const place = { at, ...(toVersion !== undefined && { version: toVersion }) }
  const dryRun = !options.forReal
  const data = dataFolder(options.data)
  const { mustHaveStore } = await import('@/lib/store/open')
  mustHaveStore(data.path)
  if (options.plan)
    return showPlan(options.data, (house) => forkPlan(house, original, place), dryRun, options.json)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const outcome = await runOnce({
    dataDir: data.path,
    dryRun,
    ...(options.timeoutSecs === undefined ? {} : { timeoutS: options.timeoutSecs }),
    switches: options,
    signal: stop.signal,
    async begin(house, by, keptFor) {
      const plan = await forkPlan(house, original, place)
      const artifacts = artifactValues(options.artifact ?? [], plan)
      console.error(planWords(plan, dryRun))
      return forkRun(house, original, {
        ...place,
        digest: plan.digest,
        artifacts,
        dryRun,
        by,
        keptFor,
        ...(input !== undefined && { input }),
        ...(reason !== undefined && { reason }),
      })
    },
  })
  return tellOutcome(outcome, data.path, options.json ?? false)
}

function showPlan(
  data: string | undefined,
  make: (house: Installation) => Promise<ForkPlanView>,
  dryRun: boolean,
  asLine = false,
): Promise<number> {
  return inKnownInstallation(data, async (house) => {
    const plan = await make(house)
    console.error(planWords(plan, dryRun))
    console.log(JSON.stringify(plan, null, asLine ? 0 : 2))
    return exitCode.ok
  })
}

/** Where the fork goes on and what may happen again, for people. */
export function planWords(plan: ForkPlanView, dryRun: boolean): string {
  const steps = plan.carried === 1 ? '1 step' : `${plan.carried} steps`
  const where =
    plan.next.length === 0
      ? 'it ends at once'
      : `it goes on with ${plan.next.map(({ node, visit }) => (visit > 1 ? `${node} (visit ${visit})` : node)).join(', ')}`
  const lines = [`Fork of ${plan.run} at token ${plan.at}: ${steps} taken as done, ${where}.`]
  const [first, ...more] = plan.takenBack
  if (first) {
    const names = [first, ...more].map(({ node }) => node).join(', ')
    lines.push(`Taken back since, so its effect is not there any more: ${names}`)
  }
  if (plan.effects.length === 0) lines.push('The original did nothing after this that changes anything.')
  else {
    lines.push(dryRun ? 'Nothing of this happens in a dry run:' : 'This may happen again:')
    for (const effect of plan.effects.slice(0, listed)) lines.push(`  ${effectWords(effect)}`)
    const rest = plan.effects.length - listed
    if (rest > 0)
      lines.push(`  and ${rest}${plan.moreEffects ? ' or more' : ''} others; --plan --json lists them`)
  }
  return lines.join('\n')
}

const happenedWords: Record<ForkEffect['happened'], string> = {
  done: '',
  unclear: ' (it is not clear whether it happened)',
  rolled_back: ' (taken back since)',
  none: ' (it was a dry run)',
}

function effectWords({ node, visit, sentence, consequence, happened }: ForkEffect): string {
  const forGood = consequence === 'irreversible' ? ', cannot be undone' : ''
  return `${node}${visit > 1 ? ` (visit ${visit})` : ''}: ${sentence}${forGood}${happenedWords[happened]}`
}

/** `name=text` or `name=@file`, read as its slot has it. Throws UsageError for one that is none, and for what is no JSON. */
function artifactValues(given: readonly string[], { artifacts }: ForkPlanView): JsonObject {
  const values: [string, Json][] = given.map((text) => {
    const at = text.indexOf('=')
    if (at < 1) {
      throw new UsageError(`--artifact is "${text.slice(0, 60)}"; expected name=value, or name=@file`)
    }
    const name = text.slice(0, at)
    const value = text.slice(at + 1)
    const slot = artifacts.find((one) => one.name === name)
    const bytes = value.startsWith('@') ? readBytes(value.slice(1)) : Buffer.from(value)
    if (slot && /[/+]json\s*(;|$)/i.test(slot.mediaType)) return [name, parsed(name, bytes.toString('utf8'))]
    const isText = !slot || slot.mediaType.startsWith('text/')
    return [name, isText || !value.startsWith('@') ? bytes.toString('utf8') : bytes.toString('base64')]
  })
  return Object.fromEntries(values)
}

function parsed(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw new UsageError(
      `The value for the artifact "${name}" is not JSON: ${(error as Error).message.slice(0, 120)}`,
    )
  }
}
