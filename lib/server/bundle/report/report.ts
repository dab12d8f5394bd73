/*
 * The report of a bundle: what happened, for people, in one file that needs nothing else. It runs no script and fetches
 * nothing, and says so in a policy of its own; all that agents, models and people wrote is text in it (markup.ts). It
 * follows from the evidence alone: the same evidence gives the same bytes, and a verifier makes it again to compare.
 *
 * Every list has a bound. What is past it is counted, and is in the bundle's other entries whole.
 */
import type { Hash } from '@/lib/base/hash'
import type { Fact, FactOf } from '@/lib/engine/facts'
import { decidedOnSeen } from '@/lib/view/act-words'
import { ArtifactTrace, type TraceCell, type TraceRow } from '@/lib/view/artifact-trace'
import { frameOf, type RunFrame } from '@/lib/view/frame'
import { plainActor } from '@/lib/view/plain-words'
import { causesOf } from '@/lib/view/timeline/causes'
import type { CausalLink, FiredBy } from '@/lib/view/timeline/terms'
import { labelOf } from '@/lib/workflow/graph-index'
import { type DecisionClaim, decisionsOf } from '../claims'
import type { Evidence, Noted, RunEvidence } from '../evidence'
import { drawnNodesMax, graphSvg } from './graph-svg'
import { whatHappened } from './happened'
import { drawnLanesMax, lanesSvg } from './lanes-svg'
import { html, type Markup } from './markup'
import { stateMark } from './state-shapes'
import { reportStyle } from './style'
import { entryText } from './value-text'
import { counted, cut, exactClock, moment, short, span, thousands } from './words'

const most = {
  runs: 24,
  trace: 400,
  decisions: 400,
  errors: 100,
  causes: 12,
  values: 60,
  leftOut: 200,
  listed: 400,
  steps: 600,
}
const valueChars = 2_000

/** The report as one HTML document. */
export async function renderReport(evidence: Evidence): Promise<string> {
  const root = evidence.runs[0] as RunEvidence
  const frame = frameOf(root.folded)
  const decisions = decisionsOf(evidence)
  const title = `${cut(root.workflow, 120)}, ${short(root.run)}`
  const body = html`<main>
${heading(evidence, root, frame, decisions)}
${section('graph', 'Graph', graphPart(root, frame))}
${section('timeline', 'Timeline', timelinePart(root))}
${section('trace', 'Artifact trace', await tracePart(evidence, root))}
${section('decisions', 'Decisions', decisionPart(evidence, decisions))}
${section('rollbacks', 'Rollbacks', rollbackPart(evidence))}
${section('errors', 'Errors', errorPart(evidence))}
${section('below', 'Runs below', belowPart(evidence))}
${section('values', 'Values', await valuePart(evidence, root))}
${section('left-out', 'Left out', leftOutPart(evidence))}
${section('verify', 'Hashes, and how to verify', verifyPart(evidence))}
</main>`
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">
<title>${title}</title><style>${reportStyle}</style></head><body>${body}</body></html>
`.text
}

function section(id: string, title: string, content: Markup | undefined): Markup | undefined {
  return content && html`<section id="${id}"><h2>${title}</h2>${content}</section>`
}

function heading(
  evidence: Evidence,
  root: RunEvidence,
  frame: RunFrame,
  decisions: readonly DecisionClaim[],
): Markup {
  const { headline, sentence } = frame
  return html`<header><h1><bdi>${cut(root.workflow, 300)}</bdi></h1>
<div class="head">${stateMark(headline.shown, headline.words)}<code>${root.run}</code>${root.folded.start?.dryRun && html`<span class="quiet">dry run</span>`}<span class="quiet">state of <time>${moment(evidence.at)}</time></span></div>
<p class="lead"><bdi>${whatHappened(evidence, headline, sentence, decisions)}</bdi></p></header>`
}

function graphPart(root: RunEvidence, frame: RunFrame): Markup {
  const drawing = graphSvg(root.graph.graph, frame, `Graph of ${root.workflow}`)
  return html`<p class="quiet">${frame.sentence}.</p>${drawing ?? html`<p>${counted(frame.nodes.size, 'step')}: more than the ${drawnNodesMax} that are drawn here. Open the bundle in the console to see them.</p>`}`
}

function timelinePart(root: RunEvidence): Markup | undefined {
  const { timeline } = root
  const drawing = lanesSvg(timeline, `Timeline of ${root.workflow}`)
  if (!drawing || timeline.fromAt === undefined || timeline.toAt === undefined) return undefined
  const lanes = timeline.lanes('node').length
  const more =
    lanes > drawnLanesMax ? ` The first ${drawnLanesMax} of ${thousands(lanes)} lanes are drawn.` : ''
  return html`<p class="quiet">${moment(timeline.fromAt)} to ${moment(timeline.toAt)}, ${span(timeline.toAt - timeline.fromAt)}. Grey columns are time in which nothing happened. Diamonds: errors in red, rollbacks in violet, what people did filled, changes of an artifact hollow.${more}</p>${drawing}${transitionList(root)}`
}

function transitionList({ timeline, graph }: RunEvidence): Markup | undefined {
  const { transitions } = timeline
  if (transitions.length === 0) return undefined
  const rows = transitions
    .slice(0, most.steps)
    .map(({ seq, at, from, event, node, visit, bound, firedBy, insteadOf, leftAt }) => {
      const instead = insteadOf ? ` instead of ${insteadOf.join(', ')}` : ''
      return html`<tr${leftAt !== undefined && html` class="back"`}><td class="tight right mono">${seq}</td><td class="tight"><time>${exactClock(at)}</time></td><td><bdi>${from ? stepLabel(graph, from.node) : ''}</bdi></td><td><bdi>${event ?? ''}</bdi></td><td><bdi>${stepLabel(graph, node)}</bdi>${instead}</td><td class="tight right mono">${visit}${bound !== undefined && ` of ${bound}`}</td><td><bdi>${firedWords(firedBy)}</bdi></td></tr>`
    })
  return html`<details><summary>${counted(transitions.length, 'transition')}</summary><div class="wide"><table><thead><tr><th class="right">Token</th><th>Time</th><th>From</th><th>Event</th><th>To</th><th class="right">Visit</th><th>Fired by</th></tr></thead><tbody>${rows}</tbody></table></div>${past(transitions.length, most.steps, 'transition')}</details>`
}

function firedWords(fired: FiredBy): string {
  switch (fired.by) {
    case 'model':
      return 'the model'
    case 'engine':
      return 'the workflow'
    case 'limit':
      return 'a limit'
    case 'rollback':
      return `a rollback, ${plainActor(fired.who)}`
    case 'start':
    case 'person':
    case 'agent':
      return plainActor(fired.who)
    default:
      return fired satisfies never
  }
}

async function tracePart(evidence: Evidence, root: RunEvidence): Promise<Markup | undefined> {
  const trace = new ArtifactTrace(root.graph.graph.artifacts)
  trace.update(root.timeline)
  if (trace.artifacts.length === 0 || root.timeline.artifacts.length === 0) return undefined
  const { graph } = root
  const rows = trace.rows.slice(0, most.trace)
  const lines = new Map<Hash, string>()
  for (const hash of rows.flatMap((row) => row.cells.flatMap((cell) => cell.written?.set.value ?? []))) {
    if (!lines.has(hash)) lines.set(hash, await oneLine(evidence, hash))
  }
  const row = ({ number, transition, cells }: TraceRow, above: TraceRow | undefined) =>
    html`<tr${transition.leftAt !== undefined && html` class="back"`}><td class="tight right mono">${number}</td><td class="tight"><time>${exactClock(transition.at)}</time></td><td><bdi>${transition.event ?? ''}</bdi></td><td><bdi>${stepLabel(graph, transition.node)}</bdi>${transition.visit > 1 && html` <span class="quiet">visit ${transition.visit}</span>`}</td>${cells.map((cell, at) => traceCell(cell, above?.cells[at], lines))}</tr>`
  return html`<p class="quiet">One row for each entry of a state, with what was written when the run arrived there; what was written last belongs to the last row. A diamond marks what changed.</p>
<div class="wide"><table><thead><tr><th class="right">Row</th><th>Time</th><th>Event</th><th>To</th>${trace.artifacts.map(({ name }) => html`<th><bdi>${cut(name, 60)}</bdi></th>`)}</tr></thead><tbody>${rows.map((one, at) => row(one, rows[at - 1]))}</tbody></table></div>${past(trace.rows.length, most.trace, 'row')}`
}

function traceCell(cell: TraceCell, above: TraceCell | undefined, lines: ReadonlyMap<Hash, string>): Markup {
  const { written, changed } = cell
  if (!written) return html`<td class="quiet">–</td>`
  const { set, count } = written
  const added = Math.max(0, count - (above?.written?.count ?? 0))
  const entries =
    set.mode === 'append' &&
    html` <span class="quiet">${counted(count, 'entry', 'entries')}${added > 0 && `, ${added} added`}</span>`
  return html`<td>${changed && '◆ '}<bdi>${lines.get(set.value) ?? ''}</bdi>${entries} <code class="quiet" title="${set.value}">${short(set.value)}</code></td>`
}

function decisionPart({ runs }: Evidence, decisions: readonly DecisionClaim[]): Markup | undefined {
  if (decisions.length === 0) return undefined
  const runOf = new Map(runs.map((run) => [run.run, run]))
  const rows = decisions.slice(0, most.decisions).map((decision) => {
    const run = runOf.get(decision.run) as RunEvidence
    const where = typeof decision.node === 'string' ? stepLabel(run.graph, decision.node) : ''
    const why = [decision.comment, decision.reason].find((one) => typeof one === 'string' && one !== '')
    return html`<tr><td class="tight"><time>${moment(decision.at)}</time></td><td><bdi>${plainActor(decision.by)}</bdi></td><td><bdi>${didWords(decision)}</bdi>${where !== '' && html` <span class="quiet"><bdi>${where}</bdi></span>`}${decision.asked && html`<br><span class="quiet"><bdi>${cut(decision.asked.sentence, 300)}</bdi> (asked of <bdi>${decision.asked.role}</bdi>)</span>`}${decision.edited !== undefined && html`<br><span class="quiet">as edited</span>`}${decision.seen !== undefined && html`<br><span class="quiet">${decidedOnSeen}</span>`}</td><td><bdi>${typeof why === 'string' ? cut(why, 600) : ''}</bdi></td><td class="tight"><code title="${decision.jti}">${run.relation === 'exported' ? '' : `${short(decision.run)} `}${decision.seq}</code></td></tr>`
  })
  return html`<div class="wide"><table><thead><tr><th>When</th><th>Who</th><th>What</th><th>Why</th><th>Token</th></tr></thead><tbody>${rows}</tbody></table></div>${past(decisions.length, most.decisions, 'decision')}`
}

const didByType: Record<string, string> = {
  approval_commented: 'commented',
  run_paused: 'paused the run',
  run_resumed: 'resumed the run',
  cancel_asked: 'cancelled the run',
  rollback_request: 'asked for a rollback',
}
const scopeWords: Record<string, string> = {
  single: 'this step alone',
  sub_dag: 'the step and all that followed',
  full_workflow: 'the whole run',
}
const didByVerdict: Record<string, string> = {
  approve: 'approved',
  refuse: 'refused',
  took_effect: 'said that it happened',
  not_taken: 'said that it did not happen',
  acknowledge: 'took note',
}

function didWords({ type, verdict, event, choice, scope, overwrite }: DecisionClaim): string {
  if (typeof event === 'string') return `gave ${event}`
  if (type === 'rollback_choice') return choice === 'go_on' ? 'chose to go on' : 'chose to end the run'
  if (type === 'rollback_request')
    return `${didByType.rollback_request}, ${scopeWords[String(scope)] ?? String(scope)}${overwrite === true ? ', also of what was changed since' : ''}`
  return didByType[type] ?? didByVerdict[String(verdict)] ?? String(verdict)
}

function rollbackPart({ runs }: Evidence): Markup | undefined {
  const all = runs.flatMap((run) => [...run.folded.rollbacks.values()].map((rollback) => ({ run, rollback })))
  if (all.length === 0) return undefined
  return html`${all.slice(0, most.listed).map(({ run, rollback }) => {
    const { by, reason, askedAt, status, scope, node, acts, choice, plan } = rollback
    const undos = [...acts.values()]
      .slice(0, most.listed)
      .map(
        (act) =>
          html`<tr><td><bdi>${stepLabel(run.graph, act.node)}</bdi></td><td class="tight">${act.undo}</td><td class="tight">${act.status ?? 'under way'}</td><td><bdi>${cut(act.description, 600)}</bdi></td></tr>`,
      )
    return html`<h3>Back to before <bdi>${stepLabel(run.graph, node)}</bdi>: ${status ?? 'under way'}</h3><p><bdi>${plainActor(by)}</bdi> asked for it on <time>${moment(askedAt)}</time>, ${scopeWords[scope]}${run.relation !== 'exported' && html`, in <code>${short(run.run)}</code>`}${reason !== '' && html`: <bdi>${cut(reason, 600)}</bdi>`}. Plan <code title="${plan}">${short(plan)}</code>${choice !== undefined && `; afterwards somebody chose to ${choice === 'go_on' ? 'go on' : 'end the run'}`}.</p>
${undos.length > 0 && html`<div class="wide"><table><thead><tr><th>Step</th><th>How</th><th>Outcome</th><th>What came of it</th></tr></thead><tbody>${undos}</tbody></table></div>`}`
  })}`
}

function errorPart({ runs }: Evidence): Markup | undefined {
  const all = runs.flatMap((run) =>
    run.notes.flatMap((note) => (note.fact?.type === 'error' ? [{ run, note, fact: note.fact }] : [])),
  )
  if (all.length === 0) return undefined
  const facts = new Map(runs.map((run) => [run, run.notes.map(({ fact }) => fact)]))
  return html`${all.slice(0, most.errors).map(({ run, note, fact }) => errorEntry(run, note, fact, facts.get(run) ?? []))}${past(all.length, most.errors, 'error')}`
}

function errorEntry(
  run: RunEvidence,
  note: Noted,
  fact: FactOf<'error'>,
  facts: readonly (Fact | undefined)[],
): Markup {
  const failed = fact.severity === 'error' || fact.severity === 'critical'
  const { graph: index, notes: rows, seqOf } = run
  const chain = causesOf({ index, rows, facts, seqOf }, note.seq)
  const causes = chain?.links.slice(1, most.causes + 1) ?? []
  const elsewhere = chain?.elsewhere.length ?? 0
  return html`<h3>${stateMark(failed ? 'failed' : 'skipped', stepLabel(run.graph, fact.node))}</h3>
<p><time>${moment(fact.at)}</time>, token ${note.seq}${run.relation !== 'exported' && html` of <code>${short(run.run)}</code>`}: <bdi>${cut(fact.description, 1_200)}</bdi> <code>${fact.code}</code> <span class="quiet">${fact.severity}, ${fact.errorType.replaceAll('_', ' ')}, attempt ${fact.attempt}</span></p>
${causes.length > 0 && html`<ol class="chain">${causes.map((cause) => causeLine(run, cause))}</ol>`}${elsewhere > 0 && html`<p class="quiet">${counted(elsewhere, 'cause')} in other runs.</p>`}`
}

function causeLine({ graph, notes }: RunEvidence, { seq, by, node, words }: CausalLink): Markup {
  const fact = notes[seq - 1]?.fact
  const why = fact?.type === 'error' ? `, ${cut(fact.description, 300)}` : ''
  const where = node === undefined ? '' : `${stepLabel(graph, node)}: `
  return html`<li>${by === 'upstream' ? 'caused by' : 'followed from'} token ${seq}: <bdi>${where}${words}${why}</bdi></li>`
}

function belowPart({ runs }: Evidence): Markup | undefined {
  const others = runs.slice(1)
  if (others.length === 0) return undefined
  const rows = others.slice(0, most.listed).map((run) => {
    const { headline } = frameOf(run.folded)
    const place =
      run.parent &&
      `${stepLabel((runs.find(({ run: id }) => id === run.parent?.runId) ?? run).graph, run.parent.node)}${run.parent.visit > 1 ? `, visit ${run.parent.visit}` : ''}`
    return html`<tr><td><bdi>${cut(run.workflow, 120)}</bdi><br><code class="quiet">${run.run}</code></td><td><bdi>${run.relation === 'original' ? 'it was forked from it' : (place ?? '')}</bdi></td><td>${stateMark(headline.shown, headline.words)}</td><td class="tight right mono">${thousands(run.tokens)}</td></tr>`
  })
  const drawn = others.slice(0, most.runs).map((run) => {
    const frame = frameOf(run.folded)
    const graph = graphSvg(run.graph.graph, frame, `Graph of ${run.workflow}`)
    const lanes = lanesSvg(run.timeline, `Timeline of ${run.workflow}`)
    return html`<details><summary><bdi>${cut(run.workflow, 120)}</bdi> <code>${short(run.run)}</code>: ${frame.sentence}</summary>${graph}${lanes}</details>`
  })
  return html`<div class="wide"><table><thead><tr><th>Run</th><th>Begun by</th><th>How it stands</th><th class="right">Tokens</th></tr></thead><tbody>${rows}</tbody></table></div>${past(others.length, most.listed, 'run')}${drawn}`
}

/** Inputs, outputs and artifacts of the exported run, the latest of each step: enough to read, and never all of it. */
async function valuePart(evidence: Evidence, root: RunEvidence): Promise<Markup | undefined> {
  const { folded, graph } = root
  const shown = new Map<string, Hash>()
  if (folded.start) shown.set('Input of the run', folded.start.input)
  for (const [name, writes] of folded.artifacts) {
    for (const [at, { value, mode }] of writes.entries())
      shown.set(mode === 'append' ? `Artifact ${name}, entry ${at + 1}` : `Artifact ${name}`, value)
  }
  for (const id of graph.order) {
    const state = folded.visits.get(id)?.state
    if (state?.status === 'done') shown.set(`Output of ${stepLabel(graph, id)}`, state.output)
  }
  if (shown.size === 0) return undefined
  const entries: Markup[] = []
  for (const [words, hash] of [...shown].slice(0, most.values)) {
    const about = evidence.values.get(hash)
    const text =
      about && entryText(about.mediaType, (await evidence.value(hash)) ?? new Uint8Array(), valueChars)
    entries.push(
      html`<h3><bdi>${cut(words, 160)}</bdi></h3><p class="quiet"><code>${hash}</code>${about ? `, ${cut(about.mediaType, 100)}, ${counted(about.size, 'byte')}` : ', not in the bundle'}</p>${text !== undefined && html`<pre><bdi>${text}</bdi></pre>`}`,
    )
  }
  return html`<details><summary>${counted(Math.min(shown.size, most.values), 'value')} of the run, each from its beginning</summary>${entries}${past(shown.size, most.values, 'value')}</details>`
}

async function oneLine(evidence: Evidence, hash: Hash): Promise<string> {
  const about = evidence.values.get(hash)
  if (!about) return 'not in the bundle'
  return entryText(about.mediaType, (await evidence.value(hash)) ?? new Uint8Array(), 0)
}

const whyWords = {
  sealed: 'what a checkpoint sealed: only its installation may open it',
  too_large: 'too large',
  not_stored: 'not kept by the installation',
}

function leftOutPart({ leftOut }: Evidence): Markup {
  if (leftOut.length === 0) return html`<p>Nothing that a token names is missing from the bundle.</p>`
  const rows = leftOut
    .slice(0, most.leftOut)
    .map(
      ({ hash, why, size, run, seq }) =>
        html`<tr><td><code>${hash}</code></td><td>${whyWords[why]}${size !== undefined && `, ${counted(size, 'byte')}`}</td><td class="tight"><code>${short(run)} ${seq}</code></td></tr>`,
    )
  return html`<p>${counted(leftOut.length, 'value is', 'values are')} named by a token and not in the bundle.</p><div class="wide"><table><thead><tr><th>SHA-256</th><th>Why</th><th>Named by token</th></tr></thead><tbody>${rows}</tbody></table></div>${past(leftOut.length, most.leftOut, 'value')}`
}

function verifyPart({ runs, workflows, forkedFrom, begunBy, values }: Evidence): Markup {
  const rows = runs
    .slice(0, most.listed)
    .map(
      (run) =>
        html`<tr><td><code>${run.run}</code></td><td class="right mono">${thousands(run.tokens)}</td><td class="right mono">${run.heads}</td><td><code>${run.lastHash}</code></td></tr>`,
    )
  const versions = workflows
    .slice(0, most.listed)
    .map(
      ({ name, version }) =>
        html`<tr><td><bdi>${cut(name, 120)}</bdi></td><td><code>${version}</code></td></tr>`,
    )
  const root = runs[0] as RunEvidence
  return html`<p>Every token is signed, and each row’s hash covers the row before it. The manifest beside this report lists every entry of the bundle with its hash, and is signed. Check all of it, without a network:</p><pre>npx holdpoint verify FILE --keys KEYS.json
npx holdpoint open FILE</pre>
<p>KEYS.json are the installation’s public keys, as it publishes them at /.well-known/jwks.json. Without them the keys in the bundle are used: that proves that it is whole, not whose it is.</p>
<dl><dt>Run</dt><dd><code>${root.run}</code></dd><dt>wid</dt><dd><code>${root.wid}</code></dd>
${forkedFrom && html`<dt>Forked from</dt><dd><code>${forkedFrom.run}</code> at token ${thousands(forkedFrom.seq ?? 0)} <code>${forkedFrom.jti}</code>, ${forkedFrom.included ? 'in this bundle' : 'not in this bundle'}</dd>`}
${begunBy && html`<dt>Begun by</dt><dd><code>${begunBy.run}</code>, token <code>${begunBy.jti}</code></dd>`}
<dt>Values</dt><dd>${thousands(values.size)}</dd></dl>
<h3>Ledgers</h3><div class="wide"><table><thead><tr><th>Run</th><th class="right">Tokens</th><th class="right">Heads</th><th>Hash of the last row</th></tr></thead><tbody>${rows}</tbody></table></div>${past(runs.length, most.listed, 'run')}
<h3>Workflow versions</h3><div class="wide"><table><thead><tr><th>Name</th><th>Version: SHA-256 of its graph</th></tr></thead><tbody>${versions}</tbody></table></div>`
}

function stepLabel(graph: RunEvidence['graph'], node: string): string {
  return cut(labelOf(graph, node), 160)
}

function past(total: number, bound: number, one: string): Markup | undefined {
  const more = total - bound
  return more > 0 ? html`<p class="quiet">${counted(more, `more ${one}`)} in the bundle.</p>` : undefined
}
