/* A small run that holds whatever a run should not: see large-runs.ts. */
import { sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import type { ActionRef, Command } from '@/lib/engine/commands'
import { decide } from '@/lib/engine/decide'
import { evolve, newRun } from '@/lib/engine/evolve'
import type { Fact, TerminalStatus } from '@/lib/engine/facts'
import type { StoredValue } from '@/lib/engine/ports'
import { jsonValue } from '@/lib/worker/values'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { indexGraph } from '@/lib/workflow/graph-index'
import type { History, UnknownAct } from './history'

/** Were any of it run, `window.pwned` would be there. */
export const hostileHtml =
  '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script><svg onload="window.pwned=1"></svg> {{artifacts.long_text}}'
const hostileSvg =
  '<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>'
// biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder is what it is
const braces = '{{artifacts.page}} {{constructor.constructor("window.pwned=1")()}} ${window.pwned=1} <%= 1 %>'
/** Hebrew, an override, isolates, and what looks like a path and is none. */
const rightToLeft = 'שלום עולם \u202Egnihton\u202C \u2067abc\u2069 /etc/\u202Edwssap'
/** The first bytes of a picture, and then some that no text has. */
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0xff, 0xfe])

/** An act of a later version, and an end of one. */
export const unknownAct = 'hp:from_the_future'
const unknownEnd = 'levitated' as TerminalStatus

/** The slots of the odd run: their media types, and what is written on the first, second, … visit. */
function slotsOf(
  largeBytes: number,
): Record<string, { type: string; mode?: 'append'; values: Uint8Array[] }> {
  return {
    long_text: { type: 'text/plain', values: [longText(largeBytes, 'first'), longText(largeBytes, 'other')] },
    long_json: { type: 'application/json', values: [longJson(largeBytes, 1), longJson(largeBytes, 2)] },
    one_line: {
      type: 'text/plain',
      values: [utf8('word '.repeat(largeBytes / 50)), utf8('words '.repeat(largeBytes / 60))],
    },
    deep: {
      type: 'application/json',
      values: [utf8(`${'['.repeat(5_000)}1${']'.repeat(5_000)}`), utf8('[1]')],
    },
    page: { type: 'text/html', values: [utf8(hostileHtml), utf8(`${hostileHtml}\n<p>more</p>`)] },
    drawing: { type: 'image/svg+xml', values: [utf8(hostileSvg)] },
    braces: { type: 'text/plain', values: [utf8(braces)] },
    picture: { type: 'text/plain', values: [png, utf8('a text now')] },
    not_json: { type: 'application/json', values: [utf8('{"a": '), png] },
    other_way: { type: 'text/plain', values: [utf8(rightToLeft), utf8(`${rightToLeft}\nעוד`)] },
    nul: { type: 'text/plain', values: [utf8('a\0b\0c'), utf8('abc')] },
    empty: { type: 'text/plain', values: [utf8(''), utf8('no more')] },
    log: { type: 'text/plain', mode: 'append', values: [utf8(hostileHtml), utf8(''), utf8(rightToLeft)] },
  }
}

/** Its facts and values; `largeBytes` is how large the largest values are. */
export function oddHistory(largeBytes: number): History {
  const slots = slotsOf(largeBytes)
  const graph = oddGraph(slots)
  const input = jsonValue({ content: hostileHtml })
  const output = jsonValue({ answer: hostileHtml })
  const values: StoredValue[] = [input, output]
  const run = newRun(indexGraph(graph))
  const facts: (Fact | UnknownAct)[] = []
  let now = Date.UTC(2026, 10, 21)
  const grant = (command: Command) => {
    now += 700
    for (const fact of decide(run, command, { now, mint: mintUuid, chance: 0 }).facts) {
      evolve(run, fact)
      const end = fact.type === 'workflow_complete' ? { ...fact, terminalStatus: unknownEnd } : fact
      facts.push(end)
    }
  }
  const writtenOn = (visit: number) =>
    Object.entries(slots).flatMap(([name, { type, values: all }]) => {
      const bytes = all[visit - 1]
      if (!bytes) return []
      const hash = sha256(bytes)
      values.push({ hash, mediaType: type, bytes })
      return [{ name, value: hash }]
    })
  const step = (node: string, visit: number, label: string) => {
    const action: ActionRef = {
      hash: input.hash,
      consequence: 'read_only',
      target: hostileHtml,
      sentence: `Let ${hostileHtml} take its turn`,
      reads: [],
    }
    grant({ type: 'begin', node, visit, action, timeoutS: 60 })
    const artifacts = node === 'work' ? writtenOn(visit) : []
    grant({ type: 'succeeded', node, visit, attempt: 1, output: output.hash, label, toolCalls: 0, artifacts })
  }
  grant({ type: 'start', version: input.hash, input: input.hash, by: 'person:ada', dryRun: false })
  step('work', 1, oddEvent)
  step('look', 1, 'Again')
  facts.push({ act: unknownAct, ext: { 'hp.node': 'work', 'hp.status': 'levitating', 'hp.ms': 'soon' } })
  step('work', 2, oddEvent)
  facts.push({ act: 'acme:beam_up', ext: { 'hp.node': 'no_such_step' } })
  facts.push(elsewhere(now))
  step('look', 2, 'Again')
  step('work', 3, 'Over')
  grant({ type: 'finish' })
  return { graph, facts, values }
}

/** A step that is done, of a node that the workflow does not have. */
function elsewhere(at: number): Fact {
  const output = sha256('nothing')
  return {
    type: 'task_complete',
    jti: mintUuid(),
    at,
    par: [],
    node: 'no_such_step',
    visit: 7,
    attempt: 1,
    output,
  }
}

const oddEvent = 'Looked<b>At</b>'

function oddGraph(slots: ReturnType<typeof slotsOf>): WorkflowGraph {
  const state = (id: string, label: string) => ({
    id,
    label,
    kind: 'prompt_state',
    config: { prompt: id, template: hostileHtml },
    priority: 'normal' as const,
    retry: { maxAttempts: 1, baseMs: 1, factor: 1, maxMs: 1, jitter: 0 },
    maxVisits: 10,
    extra: {},
  })
  return {
    name: `odd ${hostileHtml}`,
    description: hostileHtml,
    format: 'promptpack',
    order: 'stepwise',
    vocabulary: 'atd',
    nodes: [state('work', 'Work <b>hard</b>'), state('look', 'Look \u202Ekcab')],
    edges: [
      { from: 'work', to: 'look', when: oddEvent, extra: {} },
      { from: 'look', to: 'work', when: 'Again', extra: {} },
    ],
    starts: [{ name: 'main', node: 'work' }],
    artifacts: Object.entries(slots).map(([name, { type, mode }]) => ({
      name,
      mediaType: type,
      mode: mode ?? 'replace',
      extra: {},
    })),
    budget: {},
    policy: { roots: [], privateTargets: [] },
    rules: [],
    extra: {},
  }
}

/** Lines of a log, of which one in the middle and the last say something else. */
function longText(bytes: number, word: string): Uint8Array {
  const line = (at: number) => `line ${String(at).padStart(9)} of a log that goes on and on: ok\n`
  const count = Math.floor(bytes / line(0).length)
  const middle = count >> 1
  const part = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => line(from + at)).join('')
  return utf8(`${part(0, middle)}${word} time\n${part(middle, count - 1)}${word} end\n`)
}

function longJson(bytes: number, round: number): Uint8Array {
  const count = Math.floor(bytes / 64)
  const cases = Array.from({ length: count }, (_, at) => ({
    id: at,
    name: `case ${at} of the suite`,
    ms: at % 5_000 === 0 ? at * round : at,
  }))
  return utf8(JSON.stringify({ pass: round, total: 2, cases }))
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}
