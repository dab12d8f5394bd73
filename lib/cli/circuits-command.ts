/** `holdpoint circuits …`, or `breakers`: breakers of a data folder, beside a running server or without one. */
import os from 'node:os'
import { isProblem, Problem } from '@/lib/base/problem'
import type { Installation } from '@/lib/server/installation'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { noCallsWords } from '@/lib/view/circuit-words'
import { exitCode } from './exit-codes'
import { inKnownInstallation } from './known-installation'

interface Options {
  data?: string
  json?: boolean
}

export interface ForceOptions extends Options {
  to: 'open' | 'closed'
  reason: string
  minutes: number
}

/** `holdpoint circuits list`: those that had a call within the hour, are not closed, or are forced. */
export async function listCommand(options: Options): Promise<number> {
  return inKnownInstallation(options.data, async (house) => {
    const { listCircuits } = await import('@/lib/server/circuits')
    const list = await listCircuits(house)
    if (options.json) console.log(JSON.stringify(list))
    else if (list.items.length === 0) console.log('No breaker had a call within the hour.')
    else for (const row of list.items) console.log(circuitLine(row, list.at))
    return exitCode.ok
  })
}

/** `holdpoint circuits force CIRCUIT --to open --minutes N --reason TEXT`, in the name of whoever runs the command. */
export async function forceCommand(circuit: string, options: ForceOptions): Promise<number> {
  return inKnownInstallation(options.data, async (house) => {
    const { forceCircuit } = await import('@/lib/server/circuits')
    const { to, reason, minutes } = options
    return changed(house, circuit, options, (id) =>
      forceCircuit(house, id, caller(), { to, reason, minutes }),
    )
  })
}

/** `holdpoint circuits lift CIRCUIT --reason TEXT`: takes off what was forced. */
export async function liftCommand(circuit: string, options: Options & { reason: string }): Promise<number> {
  return inKnownInstallation(options.data, async (house) => {
    const { liftCircuit } = await import('@/lib/server/circuits')
    return changed(house, circuit, options, (id) => liftCircuit(house, id, caller(), options))
  })
}

/** `holdpoint circuits probe CIRCUIT`: has one probe go, where no run calls; 5 when it fails. */
export async function probeCommand(circuit: string, options: Options): Promise<number> {
  return inKnownInstallation(options.data, async (house) => {
    const { probeCircuit } = await import('@/lib/server/probe-circuit')
    const id = await idOf(house, circuit)
    const probed = await probeCircuit(house, id, caller()).catch((error: unknown) => {
      throw withCommand(error, id)
    })
    if (options.json) console.log(JSON.stringify(probed))
    else {
      console.log(circuitLine(probed.circuit, Date.now()))
      console.error(`holdpoint: ${probed.sentence}`)
    }
    return probed.ok ? exitCode.ok : exitCode.failed
  })
}

/** A refusal for a time, with the command that mends it before that. */
export function withCommand(error: unknown, id: string): unknown {
  if (!isProblem(error, 'circuit_open')) return error
  const act = error.data.because === 'forced' ? 'lift ID' : 'force ID --to closed --minutes 5'
  const command = `holdpoint breakers ${act.replace('ID', id.slice(0, 8))} --reason TEXT`
  return new Problem(error.code, `${error.message}: \`${command}\``, error.data)
}

function caller(): string {
  return `person:${os.userInfo().username}+cli`
}

async function changed(
  house: Installation,
  circuit: string,
  { json }: Options,
  change: (id: string) => Promise<void>,
): Promise<number> {
  const { circuitRow } = await import('@/lib/server/circuits')
  const id = await idOf(house, circuit)
  await change(id)
  const row = await circuitRow(house, id)
  console.log(json ? JSON.stringify(row) : circuitLine(row, Date.now()))
  return exitCode.ok
}

/** The id, of which its first characters are enough. */
async function idOf({ store }: Installation, asked: string): Promise<string> {
  const known = await store.circuits.list(2_000)
  const found = asked === '' ? [] : known.filter(({ id }) => id.startsWith(asked))
  const [only] = found
  if (only && found.length === 1) return only.id
  const begin = JSON.stringify(asked.slice(0, 60))
  throw new Problem(
    'not_found',
    found.length > 1
      ? `${found.length} breakers have an id that begins with ${begin}; write more of it.`
      : `There is no breaker ${begin}; \`holdpoint breakers\` lists those there are.`,
  )
}

const states: Record<CircuitRow['shown'], string> = {
  open: 'open',
  half_open: 'half-open',
  closed: 'closed',
  forced_open: 'forced open',
  forced_closed: 'forced closed',
}

function probeWords(inS: number): string {
  return inS > 0 ? `next probe in ${inS} s` : 'probe due: the next call is the probe'
}

/** One breaker in one line. `at`: now, in ms since the epoch. */
export function circuitLine(row: CircuitRow, at: number): string {
  const { id, caller, downstream, counts, threshold, windowS, waiting } = row
  const { failures, calls } = counts
  const rate = row.reported
    ? `reported ${new Date(row.reported.at).toISOString().slice(0, 19)}Z`
    : calls === 0
      ? noCallsWords(windowS)
      : `${Math.round((100 * failures) / calls)} % of ${Math.round(threshold * 100)} % (${failures} of ${calls} calls in ${windowS} s)`
  const goesByItself = !row.reported && !row.held && !row.forced && row.cooldownRemainingS !== undefined
  const notes = [
    goesByItself && probeWords(row.cooldownRemainingS ?? 0),
    row.forced &&
      `by ${row.forced.by} for ${Math.ceil((row.forced.until - at) / 60_000)} min: ${row.forced.reason}`,
    row.held && 'no probe until somebody answers the question about it',
    waiting.count > 0 && (waiting.count === 1 ? '1 run waits' : `${waiting.count} runs wait`),
  ].filter((note) => typeof note === 'string')
  const words = [id.slice(0, 8), states[row.shown], `${caller.name} → ${downstream.name}`, rate, ...notes]
  return words.join('  ')
}
