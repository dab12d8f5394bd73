/*
 * The gate every effect passes: a workflow's policy, ready to be asked. Rego comes from the workflow itself or from a
 * file; it is compiled when the workflow is imported and when a run starts, so that a bad policy refuses the workflow and
 * never the first step, and compiled policies are kept by the hash of what they say.
 *
 * Rego is evaluated here, or by an Open Policy Agent where one is configured (opa.ts), never by both.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import { type Hash, hashJson } from '@/lib/base/hash'
import type { Json, JsonObject } from '@/lib/base/json'
import type { AskRego, RegoSaid } from '@/lib/policy/rego-question'
import type { ToolCall } from '@/lib/policy/tool-call'
import { decisive, type PolicyAnswers, policyAnswers } from '@/lib/policy/would-allow'
import type { Policy, RegoRules } from '@/lib/workflow/graph'
import { findFile } from './file-state'
import { type Opa, OpaRejected, OpaUnreachable, type RegoSource } from './opa'
import { locate } from './place'
import { refusal } from './resolved'
import { EffectFailed, type Effects } from './runner'
import { textOf } from './words'

/** A compiled Rego policy. `explain` throws when it cannot answer. */
export interface RegoPolicy {
  explain(input: Json, data: JsonObject, now: number): RegoSaid
}

/** Compiles modules for a query. Throws an error with `diagnostics` (line, column, message) when it refuses them. */
export type CompileRego = (
  modules: { name: string; text: string }[],
  options: { query?: string },
) => RegoPolicy

/** Largest Rego module that is read from a file. */
const maxRegoBytes = 1_048_576
/** Compiled policies kept: one a workflow version in use. */
const policiesKept = 128

export interface PoliciesOptions {
  /** Folders that `policy.rego.file` is read from; a relative name is looked for in each. Steps cannot write there. */
  authoredFolders: readonly string[]
  /** True where the user may name any file: on the user's own command line. */
  unconfined: boolean
  compile: CompileRego
  /** Decides Rego instead of the evaluator here. */
  opa?: Opa
  now(): number
}

export class Policies {
  readonly #options: PoliciesOptions
  readonly #compiled = new Map<Hash, RegoPolicy>()

  constructor(options: PoliciesOptions) {
    this.#options = options
  }

  /** `Effects.allow` of a workflow; `policy` as it was granted (lib/policy/grants.ts). */
  gateOf(policy: Policy): Effects['allow'] {
    return async (call) => {
      const answer = decisive(await this.answers(policy, call))
      if (!answer.allowed) throw refusal(answer.code, answer.sentence)
    }
  }

  /** What allowlist and Rego say of one call, each with the rule that said so. */
  answers(policy: Policy, call: ToolCall): Promise<PolicyAnswers> {
    return policyAnswers(policy, call, this.#askerOf(policy.rego))
  }

  /** Everything that keeps the policy from being loaded; nothing when it can be. Places are places in the Rego text. */
  async check({ rego }: Policy): Promise<Diagnostic[]> {
    if (!rego) return []
    try {
      const source = await this.#sourceOf(rego)
      if (this.#options.opa) await this.#options.opa.load(source)
      else this.#compile(source, nameOf(rego))
      return []
    } catch (error) {
      return faultsOf(error).map((fault) => diagnosticOf(fault, nameOf(rego)))
    }
  }

  #askerOf(rego: RegoRules | undefined): AskRego {
    return async (input) => {
      if (!rego) return { value: undefined }
      const source = await this.#sourceOf(rego)
      if (this.#options.opa) return { value: await this.#options.opa.ask(source, input) }
      return this.#compile(source, nameOf(rego)).explain(input, source.data, this.#options.now())
    }
  }

  #compile(source: RegoSource, name: string): RegoPolicy {
    const key = hashJson({ text: source.text, query: source.query })
    const known = this.#compiled.get(key)
    if (known) return known
    const compiled = this.#options.compile([{ name, text: source.text }], { query: source.query })
    this.#compiled.set(key, compiled)
    const [oldest] = this.#compiled.keys()
    if (this.#compiled.size > policiesKept && oldest !== undefined) this.#compiled.delete(oldest)
    return compiled
  }

  /** The policy's text, from the workflow or from a file in the folders that authored files are read from. */
  async #sourceOf({ text, file, data, query }: RegoRules): Promise<RegoSource> {
    if (text !== undefined) return { text, data, query }
    if (file === undefined) throw refusal('policy_missing', 'policy.rego names neither a text nor a file')
    const { authoredFolders, unconfined } = this.#options
    if (authoredFolders.length === 0 && !unconfined) {
      throw refusal(
        'policy_missing',
        'policy.rego.file names a file, and no folder is set from which such files are read here; put the policy inline',
      )
    }
    const read = await this.#fileText(file, unconfined ? [...authoredFolders, '/'] : authoredFolders)
    if (read === undefined) {
      throw refusal(
        'policy_missing',
        `policy.rego.file "${file.slice(0, 200)}" is no text file that stands there`,
      )
    }
    return { text: read, data, query }
  }

  /** The file's text; a relative name is looked for in each folder in turn. */
  async #fileText(file: string, folders: readonly string[]): Promise<string | undefined> {
    const roots = folders.map((path) => ({ path, access: 'read' as const }))
    for (const first of folders) {
      const bounds = { policy: { roots, privateTargets: [] }, installationRoots: [first, ...folders] }
      const found = await findFile(await locate(file, 'read', bounds), maxRegoBytes)
      if (found) return textOf(found.bytes)
    }
    return undefined
  }
}

interface Fault {
  code: string
  message: string
  line: number
  column: number
}

/** A policy that cannot be loaded: where it is wrong, or why it could not be read or asked about. */
function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof OpaRejected) return error.faults
  if (hasDiagnostics(error) && error.diagnostics.length > 0) return error.diagnostics
  if (error instanceof EffectFailed || error instanceof OpaUnreachable) {
    const code = error instanceof EffectFailed ? error.code : 'opa_unreachable'
    return [{ code, message: error.message, line: 1, column: 1 }]
  }
  throw error
}

function hasDiagnostics(error: unknown): error is { diagnostics: readonly Fault[] } {
  return error instanceof Error && 'diagnostics' in error && Array.isArray(error.diagnostics)
}

function nameOf(rego: RegoRules): string {
  return rego.text === undefined && rego.file !== undefined ? rego.file.slice(0, 200) : 'policy.rego'
}

function diagnosticOf({ code, message, line, column }: Fault, name: string): Diagnostic {
  return {
    severity: 'error',
    code,
    message: `${name}, line ${line}, column ${column}: ${message}`,
    mend: 'Mend the Rego policy, or remove it; a workflow does not run without the policy it states.',
    line,
    column,
    path: '/policy/rego',
  }
}
