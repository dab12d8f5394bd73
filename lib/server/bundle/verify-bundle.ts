/*
 * Verifying a bundle, offline: it needs the file, and at best keys from somewhere else. From the outside in; what lies
 * within something that does not hold is not believed, and every fault that can be told is named with its place.
 *
 *   frame ─▶ statement's signature ─▶ manifest ─▶ each entry's bytes ─▶ each ledger, token by token ─▶ heads
 *         ─▶ links between the runs ─▶ workflow versions ─▶ values that tokens name ─▶ what report and decisions claim
 *
 * The file is in memory once; entries are views of it, and ledgers are read a page at a time.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import { type Hash, isHash, sha256 } from '@/lib/base/hash'
import type { RunId } from '@/lib/base/ids'
import { isJsonObject } from '@/lib/base/json'
import { isProblem, Problem, type ProblemCode } from '@/lib/base/problem'
import { version as program } from '@/lib/base/version'
import type { VerificationKey, VerificationKeys } from '@/lib/ect/keys'
import { type LedgerEntry, type LedgerHead, LedgerVerifier } from '@/lib/ect/ledger-verify'
import { nodeCrypto } from '@/lib/ect/verify-node'
import { derivedMediaType } from '@/lib/engine/ports'
import { readWorkflow } from '@/lib/formats/format'
import { type GraphIndex, indexGraph } from '@/lib/workflow/graph-index'
import { checkAgentAnswers, signedByAgents } from './agents'
import {
  type BundledRun,
  type BundledWorkflow,
  bundleEdition,
  bundleMaxBytes,
  entryName,
  type Manifest,
  runEntries,
  valueEntry,
  workflowEntries,
} from './bundle'
import { type BundleContents, contentsOf, firstContentsOf } from './contents'
import { type BundleFailure, Doubt, doubt, ledgerDoubt, quoted } from './doubt'
import { type Evidence, NamedValues, type RunEvidence, RunReader } from './evidence'
import { firstEdition, verifyFirstEdition } from './first-edition'
import { allLines, isHeadLine, isLedgerLine, pagesOf } from './lines'
import { claimsIn, decisionsIn, graphIn, jsonOf, manifestOf } from './manifest-shape'
import { renderReport } from './report/report'
import { readTar, type TarEntry } from './tar'
import type { BundleVerdict, Examined, VerifyBundleOptions } from './verdict'
import { checkDecisions, checkReport } from './verify-claims'
import { checkRuns, expectedNames, isValueEntry } from './verify-entries'
import { checkLinks } from './verify-links'
import { named, ownKeySet, refuseOtherFiles, statementOf } from './verify-statement'
import { checkCounts, checkValues } from './verify-values'

/** Faults that are named; who changed a thousand entries is not told of each. */
const faultsMax = 50

/** Verifies a whole bundle. Never throws for what the file says. */
export async function verifyBundle(
  file: Uint8Array,
  options: VerifyBundleOptions = {},
): Promise<BundleVerdict> {
  return (await examineBundle(file, options)).verdict
}

/** Verifies a whole bundle, and hands out what is in it, whether or not it holds. Never throws for what the file says. */
export async function examineBundle(file: Uint8Array, options: VerifyBundleOptions = {}): Promise<Examined> {
  const examination = new Examination(options)
  try {
    await examination.of(file)
  } catch (error) {
    examination.note(failureOf(error))
  }
  return examination.outcome()
}

function failureOf(error: unknown): BundleFailure {
  if (error instanceof Doubt) return error.failure
  if (isProblem(error)) {
    const { code, message, data } = error
    return { entry: String(data.entry ?? ''), code, sentence: `${message}.` }
  }
  throw error
}

type Held = Extract<BundleVerdict, { holds: true }>

class Examination {
  readonly #options: VerifyBundleOptions
  readonly #failures: BundleFailure[] = []
  readonly #notes: string[] = []
  /** Tokens behind the last head, by run. Bundles of older versions brought no head of the last token. */
  readonly #openTails = new Map<RunId, number>()
  #contents: BundleContents | undefined
  #held: Held | undefined
  #entries = new Map<string, TarEntry>()
  /** Ledgers and heads whose bytes are not those that the manifest lists. */
  readonly #changed: string[] = []

  constructor(options: VerifyBundleOptions) {
    this.#options = options
  }

  note(failure: BundleFailure): void {
    if (this.#failures.length < faultsMax) this.#failures.push(failure)
  }

  outcome(): Examined {
    const [failure] = this.#failures
    const verdict: BundleVerdict =
      failure || !this.#held
        ? { holds: false, failure: failure as BundleFailure, failures: this.#failures }
        : this.#held
    return { verdict, ...(this.#contents && { contents: this.#contents }) }
  }

  async of(file: Uint8Array): Promise<void> {
    if (file.length > bundleMaxBytes) {
      throw new Problem(
        'bundle_invalid',
        `The file has ${file.length} bytes; a bundle has at most ${bundleMaxBytes}`,
      )
    }
    refuseOtherFiles(file)
    const entries = readTar(file)
    this.#index(entries)
    const signed = this.#signed(entries)
    if (!signed) return
    const { signedBy, keys } = signed
    const json = jsonOf(entryName.manifest, this.#content(entryName.manifest))
    const edition = isJsonObject(json) ? json.bundle : undefined
    if (edition === firstEdition) return this.#firstEdition(entries, json, signedBy, keys)
    if (edition !== bundleEdition) {
      doubt(
        entryName.manifest,
        `The bundle has the version ${quoted(edition)}; this program reads ${firstEdition} and ${bundleEdition}`,
      )
    }
    const manifest = manifestOf(entryName.manifest, json)
    await this.#secondEdition(manifest, entries, signedBy, keys)
  }

  #index(entries: readonly TarEntry[]): void {
    for (const entry of entries) {
      if (this.#entries.has(entry.name)) doubt(entry.name, `The bundle has two entries "${entry.name}"`)
      this.#entries.set(entry.name, entry)
    }
    for (const [at, name] of [entryName.statement, entryName.manifest].entries()) {
      if (entries[at]?.name !== name) {
        doubt(name, `The bundle's entry ${at + 1} is ${quoted(entries[at]?.name)}; expected "${name}"`)
      }
    }
  }

  #content(name: string): Uint8Array {
    return this.#entries.get(name)?.content ?? new Uint8Array()
  }

  /** Undefined after a fault of the statement, which is noted; what the manifest lists may be looked at all the same. */
  #signed(entries: readonly TarEntry[]) {
    try {
      return this.#statement(entries)
    } catch (error) {
      this.note(failureOf(error))
      this.#lookAtUnsigned()
      return undefined
    }
  }

  #lookAtUnsigned(): void {
    try {
      const manifest = manifestOf(
        entryName.manifest,
        jsonOf(entryName.manifest, this.#content(entryName.manifest)),
      )
      checkRuns(manifest)
      this.#contents = contentsOf(manifest, ownKeySet(this.#content(entryName.keys)), this.#entries)
    } catch (error) {
      // Told already: the statement does not hold.
      failureOf(error)
    }
  }

  /** The statement's signature holds, and the manifest is the one it speaks of. */
  #statement(entries: readonly TarEntry[]): { signedBy: VerificationKey; keys: VerificationKeys } {
    if (!entries.some(({ name }) => name === entryName.keys))
      doubt(entryName.keys, `The bundle has no entry "${entryName.keys}"`)
    const own = () => ownKeySet(this.#content(entryName.keys))
    const { signedBy, manifestHash } = statementOf(
      this.#content(entryName.statement),
      this.#content(entryName.manifest),
      { keys: this.#options.keys ?? own, keysEntry: this.#content(entryName.keys) },
    )
    if (sha256(this.#content(entryName.manifest)) !== manifestHash) {
      doubt(entryName.manifest, 'The manifest is not the one that was signed')
    }
    return { signedBy, keys: this.#options.keys ?? own() }
  }

  async #firstEdition(
    entries: TarEntry[],
    json: unknown,
    signedBy: VerificationKey,
    keys: VerificationKeys,
  ): Promise<void> {
    const { manifest, ...counts } = await verifyFirstEdition(entries, json, keys, this.#options.onProgress)
    const run = manifest.run as BundledRun['run']
    const { workflow } = manifest
    const at = manifest.madeAt * 1000
    this.#contents = firstContentsOf(manifest, counts, entries, keys)
    this.#hold(
      {
        edition: firstEdition,
        run,
        workflow: workflow.name,
        at,
        ...counts,
        runs: 1,
        leftOut: 0,
        signedByAgents: 0,
      },
      signedBy,
      keys,
    )
  }

  async #secondEdition(
    manifest: Manifest,
    entries: readonly TarEntry[],
    signedBy: VerificationKey,
    keys: VerificationKeys,
  ): Promise<void> {
    checkRuns(manifest)
    this.#compareEntries(manifest, entries)
    this.#contents = contentsOf(manifest, keys, this.#entries)
    const graphs = this.#graphs(manifest)
    const { agents } = this.#contents
    const named = new NamedValues()
    const runs: RunEvidence[] = []
    let done = 0
    let heads = 0
    for (const about of manifest.runs) {
      const read = await this.#ledger(about, graphs.get(about.version), named, { keys, agents }, (tokens) =>
        this.#options.onProgress?.(done + tokens, manifest.tokens),
      )
      done += about.tokens
      heads += about.heads
      if (read) runs.push(read)
    }
    this.#noteTails(runs)
    for (const name of this.#changed) {
      if (!this.#failures.some(({ entry }) => entry === name)) this.#noteChanged(name, 'bundle_invalid')
    }
    // What rests on something that does not hold is not looked at.
    if (runs.length < manifest.runs.length || this.#failures.length > 0) return
    const evidence = this.#evidence(manifest, runs)
    checkLinks(manifest, runs, (failure) => this.note(failure))
    checkCounts(manifest, evidence, (failure) => this.note(failure))
    checkValues(
      manifest,
      named,
      (name) => this.#entries.has(name),
      (failure) => this.note(failure),
    )
    checkDecisions(
      decisionsIn(entryName.decisions, this.#content(entryName.decisions)),
      evidence,
      (failure) => this.note(failure),
    )
    checkReport(claimsIn(entryName.claims, this.#content(entryName.claims)), evidence, (failure) =>
      this.note(failure),
    )
    await checkAgentAnswers(evidence, agents, (failure) => this.note(failure))
    await this.#remakeReport(manifest, evidence)
    const { run, workflow, tokens, at, leftOut } = manifest
    const counts = {
      ...{ tokens, heads, runs: runs.length, values: evidence.values.size, leftOut: leftOut.length },
      signedByAgents: signedByAgents(evidence),
    }
    this.#hold({ edition: bundleEdition, run, workflow: workflow.name, at, ...counts }, signedBy, keys)
  }

  /** Says which runs went on, and of which only the bundle's own signature tells that it has all of them. */
  #noteTails(runs: readonly RunEvidence[]): void {
    const [tail, ...tails] = this.#openTails
    if (tail) {
      const others = tails.length > 0 ? `, and so of ${tails.length} more` : ''
      this.#notes.push(
        `no signed head covers the last ${tail[1]} tokens of ${tail[0]}${others}: that none were cut off behind them, the bundle's own signature alone says`,
      )
    }
    const [open, ...more] = runs.filter(
      ({ run, folded }) => folded.state.status !== 'ended' && !this.#openTails.has(run),
    )
    if (!open) return
    const others = more.length > 0 ? `, nor had ${more.length} more` : ''
    this.#notes.push(
      `${open.run} had not ended${others}; signed heads cover all that there was, ${open.tokens} tokens of it`,
    )
  }

  #hold(
    counts: Omit<Held, 'holds' | 'signedBy' | 'keysGiven' | 'keys' | 'notes'>,
    signedBy: VerificationKey,
    keys: VerificationKeys,
  ): void {
    this.#held = {
      holds: true,
      ...counts,
      signedBy: named(signedBy),
      keysGiven: this.#options.keys !== undefined,
      keys: [...keys.values()].map(named),
      notes: this.#notes,
    }
  }

  #noteChanged(name: string, code: ProblemCode): void {
    this.note({
      entry: name,
      code,
      sentence: `The bytes of "${name}" are not those that the manifest lists.`,
    })
  }

  /** Names, order, sizes and hashes, exactly as the manifest says; and no entry that a bundle has no place for. */
  #compareEntries(manifest: Manifest, entries: readonly TarEntry[]): void {
    const expected = expectedNames(manifest)
    const present = entries.slice(2)
    for (const [at, listed] of manifest.entries.entries()) {
      const { name } = listed
      if (!expected.delete(name) && !isValueEntry(listed)) {
        if (name.startsWith('values/') && isHash(name.slice('values/'.length)))
          doubt(name, `The value "${name}" does not have the hash it is named by`, 'bundle_value_wrong')
        doubt(name, `The manifest lists "${name}", which no bundle has`)
      }
      const entry = present[at]
      if (entry?.name !== name) {
        doubt(name, `The manifest lists "${name}" here, and the bundle has ${quoted(entry?.name)}`)
      }
      if (entry.content.length === listed.size && sha256(entry.content) === listed.sha256) continue
      // Where it is a ledger, its token is named, since that is what one wants to know.
      if (name.startsWith('runs/')) this.#changed.push(name)
      else this.#noteChanged(name, isValueEntry(listed) ? 'bundle_value_wrong' : 'bundle_invalid')
    }
    const more = present[manifest.entries.length]
    if (more) doubt(more.name, `The bundle has an entry "${more.name}" that the manifest does not list`)
    for (const [name, isNeeded] of expected) {
      if (isNeeded) doubt(name, `The bundle has no entry "${name}"`)
    }
  }

  /** The graph of each version, which hashes to it, and is what the text beside it says. */
  #graphs(manifest: Manifest): Map<Hash, GraphIndex> {
    const graphs = new Map<Hash, GraphIndex>()
    for (const about of manifest.workflows) {
      const names = workflowEntries(about.version)
      try {
        if (graphs.has(about.version))
          doubt(entryName.manifest, `The manifest lists the version ${about.version} twice`)
        const content = this.#content(names.graph)
        if (sha256(content) !== about.version)
          doubt(names.graph, `The graph is not that of the version ${about.version}`)
        graphs.set(about.version, indexGraph(graphIn(names.graph, content)))
        this.#checkText(manifest, about, names.text)
      } catch (error) {
        if (error instanceof Doubt || isProblem(error)) this.note(failureOf(error))
        else this.note({ entry: names.graph, code: 'bundle_invalid', sentence: 'The graph cannot be run.' })
      }
    }
    return graphs
  }

  #checkText(manifest: Manifest, { version, mediaType }: BundledWorkflow, name: string): void {
    const text = this.#entries.get(name)?.content
    if (mediaType === derivedMediaType) return
    if (!text) doubt(name, `The text of the version ${version} is missing`)
    const { graph } = readWorkflow(
      Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('utf8'),
    )
    if (graph && sha256(canonicalJson(graph)) === version) return
    // A text may be read into more by a later Holdpoint. The graph is what was run, and it hashes to the version.
    if (manifest.program !== program) {
      this.#notes.push(
        `"${name}" was read by Holdpoint ${manifest.program.slice(0, 40)} and is read otherwise by ${program}: whether it says what was run cannot be told`,
      )
      return
    }
    doubt(name, `The text is not that of the version ${version}`)
  }

  /** One ledger, token by token. Undefined after a fault, which is noted. */
  async #ledger(
    about: BundledRun,
    graph: GraphIndex | undefined,
    named: NamedValues,
    { keys, agents }: { keys: VerificationKeys; agents: ReadonlyMap<string, VerificationKeys> },
    onTokens: (tokens: number) => void,
  ): Promise<RunEvidence | undefined> {
    const names = runEntries(about.run)
    const verifier = new LedgerVerifier(about.wid, keys, { crypto: nodeCrypto, agents })
    const reader = graph && new RunReader(about.run, graph, named)
    try {
      let lastHash = sha256(about.wid)
      for (const page of pagesOf<LedgerEntry>(names.ledger, this.#content(names.ledger), isLedgerLine)) {
        const failure = await verifier.add(page)
        if (failure) throw new Doubt(ledgerDoubt(failure, true, names))
        for (const row of page) reader?.add(row)
        lastHash = page.at(-1)?.hash ?? lastHash
        onTokens(verifier.tokens)
      }
      const heads = allLines<LedgerHead>(names.heads, this.#content(names.heads), isHeadLine)
      const verdict = await verifier.finish(heads)
      if (!verdict.holds) throw new Doubt(ledgerDoubt(verdict.failure, false, names))
      const covered = Math.max(0, ...heads.map(({ seq }) => seq))
      if (covered < verifier.tokens) this.#openTails.set(about.run, verifier.tokens - covered)
      if (verifier.tokens !== about.tokens || lastHash !== about.lastHash) {
        doubt(
          names.ledger,
          `The ledger has ${verifier.tokens} tokens up to ${lastHash}; the manifest says ${about.tokens} up to ${about.lastHash}`,
        )
      }
      if (heads.length !== about.heads)
        doubt(names.heads, `There are ${heads.length} heads; the manifest says ${about.heads}`)
      if (!reader || !graph) {
        // Its graph was noted already, where it is listed.
        return doubt(names.ledger, `The version ${about.version} of ${about.run} is not in the bundle`)
      }
      const { notes, seqOf, folded, timeline } = reader
      return { ...about, notes, seqOf, graph: folded.graph, folded, timeline }
    } catch (error) {
      this.note(failureOf(error))
      return undefined
    }
  }

  #evidence(manifest: Manifest, runs: RunEvidence[]): Evidence {
    const values = new Map<Hash, { size: number; mediaType: string }>()
    for (const { hash, mediaType, content } of this.#contents?.values ?? []) {
      values.set(hash, { size: content.length, mediaType })
    }
    const { workflows, forkedFrom, begunBy, leftOut } = manifest
    const at = Math.max(...runs.map(({ notes }) => notes.at(-1)?.at ?? 0))
    return {
      ...{ runs, workflows, leftOut, values, at },
      ...(forkedFrom && { forkedFrom }),
      ...(begunBy && { begunBy }),
      value: async (hash) => (values.has(hash) ? this.#content(valueEntry(hash)) : undefined),
    }
  }

  /** The report is made again from the evidence. Another version draws differently, so a difference is told and no fault. */
  async #remakeReport({ program: writtenBy }: Manifest, evidence: Evidence): Promise<void> {
    const remade = Buffer.from(await renderReport(evidence), 'utf8')
    if (remade.equals(this.#content(entryName.report))) return
    this.#notes.push(
      `"${entryName.report}" was written by Holdpoint ${writtenBy.slice(0, 40)} and looks otherwise when this one (${program}) makes it: its figures were checked, its wording could not be`,
    )
  }
}
