/*
 * `workflow.engine`: what a pack leaves to whoever runs it. The RFC names `budget` alone; the rest of what is read here
 * is Holdpoint's, under the names agentd files have for the same things:
 *
 *   budget           max_total_visits, max_tool_calls, max_wall_time_sec (RFC 0009)
 *   bindings         what runs a tool: { run_tests: { shell_run: { … }, artifacts: { test_report: "" } } }
 *   result_bindings  { run_tests: test_report }, or { "run_tests.output": "artifacts.test_report" }: artifacts alone
 *   backend          the model that prompts ask, by name; backends: models that the pack names itself
 *   role, roles      who may give events from outside, of all states and of one
 *   policy           what its steps may reach; secrets, mcp_servers
 *   containment      on_error (nothing, escalate, rollback), on_unprepared (ask, partial, abort)
 *   states           resource_hints and constraints of a state, by its name (contained.ts); what else stands there is kept
 *
 * Anything else is a hint to another runtime and is kept. A budget that cannot be read is a warning, because one of the
 * published schemas accepts it; of Holdpoint's own members, what cannot be read is an error.
 */
import { z } from 'zod'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Backend, Budget, Containment, GraphNode, Policy, SecretSource } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { readMcpServers } from '../agentd/read'
import { readBackends } from '../agentd/read-backends'
import { readPolicy } from '../agentd/read-policy'
import { readSecrets } from '../agentd/read-secrets'
import { containedMembers, keptContained, readContained, readContainment } from '../contained'
import { wrongType } from '../fault'
import type { Tell } from '../tell'
import { fits, placeWords } from './refusals'

export interface ReadEngine {
  budget: Budget
  policy: Policy
  backends: Backend[]
  secrets: SecretSource[]
  containment?: Containment
  mcpServers: JsonObject[]
  /** The model of every prompt. */
  backend: string
  /** Who may give a state's events; undefined: nobody is named. */
  roleOf(state: string): string | undefined
  roles: string[]
  /** What a state asks for and what follows from its errors, as members of its node. */
  containedOf(state: string): ContainedState
  /** States that it is said of. */
  contained: string[]
  /** What is written back as it stood: everything but the budget's numbers, the bindings and the servers. */
  kept: JsonObject
}

type ContainedState = ReturnType<typeof readContained> & Pick<GraphNode, 'extra'>

const enginePath: GraphPath = ['workflow', 'engine']

/** The backend of prompts that are told of none. */
const defaultBackend = 'default'

/** Reads the engine's settings, telling what of them cannot be used. */
export function readEngine(engine: JsonObject, tell: Tell): ReadEngine {
  const { budget, bindings: _, result_bindings: __, mcp_servers, containment, states, ...kept } = engine
  const read = readBudget(budget, tell)
  fits(ownMembers, pick(engine, Object.keys(ownMembers.shape)), enginePath, tell)
  const secrets = 'secrets' in engine ? readSecrets(engine.secrets, at('secrets'), tell).secrets : []
  const roles = isJsonObject(engine.roles) ? engine.roles : {}
  const ofStates = readStates(states, tell)
  const role = typeof engine.role === 'string' ? engine.role : undefined
  return {
    budget: read.budget,
    policy: readOwnPolicy(engine.policy, tell),
    backends:
      engine.backends === undefined
        ? []
        : readBackends({ backends: engine.backends }, enginePath, tell).backends,
    secrets,
    containment: readContainment(containment, at('containment'), tell),
    mcpServers: readMcpServers(mcp_servers, at('mcp_servers'), tell).map(([server]) => server),
    backend: typeof engine.backend === 'string' ? engine.backend : defaultBackend,
    roleOf: (state) => (Object.hasOwn(roles, state) ? String(roles[state]) : role),
    roles: Object.keys(roles),
    containedOf: (state) => ofStates.read.get(state) ?? { priority: 'normal', extra: {} },
    contained: [...ofStates.read.keys()],
    kept: {
      ...kept,
      ...(read.kept === undefined ? {} : { budget: read.kept }),
      ...(Object.keys(ofStates.kept).length > 0 ? { states: ofStates.kept } : {}),
    },
  }
}

function at(...parts: GraphPath): GraphPath {
  return [...enginePath, ...parts]
}

function pick(from: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)))
}

const roleName = z
  .string()
  .min(1, 'A role was expected; the text is empty.')
  .max(100, 'A role has at most 100 characters.')

const ownMembers = z.strictObject({
  backend: z.string().min(1).max(128).optional(),
  role: roleName.optional(),
  roles: z.record(z.string(), roleName).optional(),
})

/** Members of the RFC's budget, by their words in the graph. */
export const budgetWords = {
  max_total_visits: 'maxTotalVisits',
  max_tool_calls: 'maxToolCalls',
  max_wall_time_sec: 'maxActiveS',
} as const satisfies Record<string, keyof Budget>

type BudgetName = keyof typeof budgetWords

function isBudgetName(name: string): name is BudgetName {
  return Object.hasOwn(budgetWords, name)
}

/** What bounds the run, and what of the member cannot: that is kept as it stood. */
function readBudget(source: Json | undefined, tell: Tell): { budget: Budget; kept?: Json } {
  if (source === undefined) return { budget: {} }
  const unread = (path: GraphPath, what: string) =>
    tell({
      path,
      code: 'budget_unread',
      severity: 'warning',
      message: `${placeWords(path)} ${what}, so it bounds nothing.`,
      mend: `Write whole numbers of at least 1 under ${Object.keys(budgetWords).join(', ')}.`,
    })
  if (!isJsonObject(source)) {
    unread(at('budget'), 'is no object')
    return { budget: {}, kept: source }
  }
  const budget: Budget = {}
  const kept: JsonObject = {}
  for (const [name, value] of Object.entries(source)) {
    if (isBudgetName(name) && Number.isSafeInteger(value) && Number(value) >= 1)
      budget[budgetWords[name]] = Number(value)
    else {
      kept[name] = value
      unread(
        at('budget', name),
        isBudgetName(name) ? 'is no whole number of at least 1' : 'is none of its members',
      )
    }
  }
  return { budget, ...(Object.keys(kept).length > 0 ? { kept } : {}) }
}

const declared = z.strictObject({
  roots: z
    .array(
      z.strictObject({
        path: z.string().min(1).max(4_096, 'A path has at most 4,096 characters.'),
        access: z.enum(['read', 'write']),
      }),
    )
    .max(1_000)
    .optional(),
  private_targets: z
    .array(z.string().min(1, 'A host, host:port or network was expected; the text is empty.').max(300))
    .max(1_000)
    .optional(),
})

/** Folders and private targets as ATD descriptors declare them, and an allowlist as agentd files have it. */
function readOwnPolicy(source: Json | undefined, tell: Tell): Policy {
  const none: Policy = { roots: [], privateTargets: [] }
  if (source === undefined) return none
  if (!isJsonObject(source)) {
    fits(declared, source, at('policy'), tell)
    return none
  }
  const { roots, private_targets, ...listed } = source
  const own = pick(source, ['roots', 'private_targets'])
  const policy = Object.keys(listed).length > 0 ? readPolicy(listed, at('policy'), tell) : none
  if (!fits(declared, own, at('policy'), tell)) return policy
  const { roots: folders = [], private_targets: privateTargets = [] } = own as z.infer<typeof declared>
  return { ...policy, roots: folders, privateTargets }
}

/** What is said of each state, and what of it is others' to read. */
function readStates(source: Json | undefined, tell: Tell) {
  const read = new Map<string, ContainedState>()
  const kept: JsonObject = {}
  if (source !== undefined && !isJsonObject(source)) tell(wrongType(at('states'), source, 'an object'))
  for (const [name, said] of Object.entries(isJsonObject(source) ? source : {})) {
    const path = at('states', name)
    if (!isJsonObject(said)) {
      tell(wrongType(path, said, 'an object'))
      continue
    }
    read.set(name, { ...readContained(said, path, tell), extra: keptContained(said) })
    const known: readonly string[] = containedMembers
    const others = Object.entries(said).filter(([member]) => !known.includes(member))
    for (const [member] of others)
      tell({
        path: [...path, member],
        what: 'name',
        code: 'unknown_member',
        severity: 'warning',
        message: `The engine says ${quoted(member)} of the state ${quoted(name)}, which is kept and nothing follows from it.`,
        mend: `Here a state takes ${containedMembers.join(' and ')}.`,
      })
    if (others.length > 0) kept[name] = Object.fromEntries(others)
  }
  return { read, kept }
}

/** What is said of a state that is not there is a slip. */
export function checkContained(engine: ReadEngine, states: ReadonlySet<string>, tell: Tell): void {
  for (const state of engine.contained.filter((name) => !states.has(name)))
    tell({
      path: at('states', state),
      what: 'name',
      code: 'unknown_state',
      message: `The engine speaks of the state ${quoted(state)}, and the workflow has no such state.`,
      mend: 'Correct the name, or remove it.',
    })
}

/** A role for a state that is not there is a slip. */
export function checkRoles(engine: ReadEngine, takesEvents: ReadonlyMap<string, boolean>, tell: Tell): void {
  for (const state of engine.roles) {
    const takes = takesEvents.get(state)
    if (takes === true) continue
    tell({
      path: at('roles', state),
      what: 'name',
      code: takes === undefined ? 'unknown_state' : 'role_unused',
      severity: takes === undefined ? 'error' : 'warning',
      message:
        takes === undefined
          ? `The engine names a role for the state ${quoted(state)}, and the workflow has no such state.`
          : `The engine names a role for the state ${quoted(state)}, whose events nobody gives from outside.`,
      mend:
        takes === undefined
          ? 'Correct the name, or remove it.'
          : 'Write "orchestration": "external" or "hybrid" on the state, or remove the role.',
    })
  }
}
