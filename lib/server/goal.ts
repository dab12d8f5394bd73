/*
 * Goal mode (NOTES 20): a person states a goal, a model plans a workflow for it. A plan supplies shape and never
 * authority: nodes, edges, starts and triggers come from the model; policy, backends, secrets and budgets come from the
 * person's own configuration, and a plan without one is allowed nothing. Nothing is run here.
 *
 *   goal ─▶ model ─▶ its TOML ─▶ shape only? ─▶ under the configuration ─▶ validated ─▶ plan, with its hash
 *             ▲                       ╰──────────── what is wrong ────────────╯
 *             ╰── at most twice ──────────────────────╯
 *
 * What the model writes is checked like any file that somebody uploads. A plan is run by whoever decides to, and the
 * hash says which plan that was: any change to it makes another one.
 */
import type { Diagnostic } from '@/lib/base/diagnostic'
import type { Hash } from '@/lib/base/hash'
import { isJsonObject, type JsonObject } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { parseAgentd } from '@/lib/formats/agentd/agentd'
import { nodeFields } from '@/lib/formats/agentd/fields'
import { agentSections } from '@/lib/formats/agentd/read'
import { readToml } from '@/lib/formats/agentd/toml-source'
import { tomlText } from '@/lib/formats/agentd/toml-write'
import type { Consequence } from '@/lib/nodes/node-kind'
import { nodeKind } from '@/lib/nodes/registry'
import { openModels } from '@/lib/runners/models/models'
import { EffectFailed, type ModelCall } from '@/lib/runners/runner'
import { consequenceOf } from '@/lib/view/frame'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import { readAuthored } from './authored-files'
import type { Installation } from './installation'
import { policyFaults } from './policy-faults'
import { environmentOf, secretOf } from './secrets'

/** A first plan, and two more with what was wrong. */
export const maxPlans = 3
export const maxGoalChars = 16_384
const planMaxTokens = 8_192
/** Told back to the model: what it cannot mend with these it will not mend with more. */
const faultsTold = 20

export interface GoalWish {
  goal: string
  /** Name of the model that plans; by default `default`, else the first there is. */
  backend?: string
  /** The text of an agentd file: its policy, backends, secrets, servers and budget become the plan's. */
  config?: string
  signal: AbortSignal
}

export interface PlannedStep {
  id: string
  kind: string
  consequence: Consequence
}

/** A plan. Without `graph` it is none: the last answer, and what is wrong with it. */
export interface GoalPlan {
  text: string
  graph?: WorkflowGraph
  /** The plan's hash (`versionOf`): what is approved is approved by it. */
  version?: Hash
  steps: PlannedStep[]
  diagnostics: Diagnostic[]
  /** How often the model was asked. */
  attempts: number
}

/** What a plan consists of. */
const shape = ['name', 'description', 'start_nodes', 'triggers', 'nodes', 'edges']
/**
 * Plans a workflow for a goal. Throws Problem `bad_request` for a goal that is empty or too long, for a configuration
 * that is not one (with the `field`: `goal` or `config`) and for an unknown backend, and EffectFailed when the model cannot be asked.
 */
export async function planGoal(house: Installation, wish: GoalWish): Promise<GoalPlan> {
  const goal = wish.goal.trim()
  if (goal === '' || goal.length > maxGoalChars) {
    throw new Problem(
      'bad_request',
      `A goal has 1 to ${maxGoalChars} characters; this one has ${goal.length}`,
      { field: 'goal' },
    )
  }
  const given = configured(wish.config)
  const models = modelsOf(house, given)
  const backend = chosenBackend(models.names(), wish.backend)
  const messages: ModelCall['messages'] = [
    { role: 'system', text: languageWords(models.names(), given) },
    { role: 'user', text: `The goal: ${goal}` },
  ]
  for (let attempts = 1; ; attempts++) {
    const answer = await models.ask(
      { backend, messages: [...messages], maxTokens: planMaxTokens },
      wish.signal,
    )
    const plan = { ...(await checkedPlan(house, answer.text, given, models.names())), attempts }
    if (plan.graph || attempts >= maxPlans) return plan
    messages.push(
      { role: 'assistant', text: answer.text },
      {
        role: 'user',
        text: `This plan was refused. Answer with the whole corrected plan.\n${faultWords(plan)}`,
      },
    )
  }
}

/** The sections of a configuration that give authority. Throws Problem `bad_request`. */
function configured(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  const { value, diagnostics } = readToml(text)
  const [first] = diagnostics
  if (!value || first) {
    throw new Problem(
      'bad_request',
      `The configuration cannot be read: line ${first?.line}: ${first?.message}`,
      { field: 'config' },
    )
  }
  return Object.fromEntries(
    agentSections.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])),
  )
}

function modelsOf(house: Installation, given: JsonObject) {
  const { graph, diagnostics } = parseAgentd(tomlText({ ...emptyPlan, ...given }), nodeKind)
  const fault = diagnostics.find(({ severity }) => severity === 'error')
  if (!graph) {
    const why = `The configuration is not right: ${fault?.message ?? ''}`
    throw new Problem('bad_request', why, { field: 'config' })
  }
  return openModels({
    backends: graph.backends ?? [],
    installationBackends: house.reachable.backends,
    env: environmentOf(house),
    secret: (name) => secretOf(house, graph, name),
    read: (path) => readAuthored(house, path),
    spend: () => undefined,
    run: 'plan',
    positions: house.reachable.scripts,
  })
}

/** What a configuration is checked around. */
const emptyPlan: JsonObject = {
  name: 'plan',
  start_nodes: [{ name: 'main', source: 'manual', entry_node: 'end' }],
  nodes: [{ id: 'end', type: 'terminate' }],
}

function chosenBackend(names: readonly string[], asked: string | undefined): string {
  const found = asked ?? (names.includes('default') ? 'default' : names[0])
  if (found !== undefined && names.includes(found)) return found
  const known = names.length === 0 ? 'none is configured' : `there are ${names.join(', ')}`
  const what = found === undefined ? 'No model can plan' : `There is no model backend "${found.slice(0, 80)}"`
  throw new Problem(
    'bad_request',
    `${what}: ${known}; name one in models.json in the data folder, or in the configuration`,
  )
}

type Checked = Omit<GoalPlan, 'attempts'>

async function checkedPlan(
  house: Installation,
  answer: string,
  given: JsonObject,
  backends: readonly string[],
): Promise<Checked> {
  const written = tomlIn(answer)
  const { value, diagnostics, tell } = readToml(written)
  if (!value) return { text: written, steps: [], diagnostics }
  for (const name of Object.keys(value)) {
    if (shape.includes(name)) continue
    tell({
      path: [name],
      what: 'name',
      code: 'plan_authority',
      message: `"${name}" is not a plan's to say: a plan has ${shape.join(', ')}, and nothing else.`,
      mend: 'Leave it out.',
    })
  }
  tellNodes(value, backends, tell)
  // Judged as it was written, so that the lines are those the model knows.
  const alone = parseAgentd(written, nodeKind)
  const found = [...diagnostics, ...alone.diagnostics.filter(({ code }) => !code.endsWith('unknown_backend'))]
  if (found.some(({ severity }) => severity === 'error'))
    return { text: written, steps: [], diagnostics: found }
  return underConfiguration(house, value, given, found)
}

/** The plan with what the person gives it; without a policy, one that names nothing and so allows nothing. */
async function underConfiguration(
  house: Installation,
  value: JsonObject,
  given: JsonObject,
  found: Diagnostic[],
): Promise<Checked> {
  const { name = 'plan', description = '', ...rest } = value
  const text = tomlText({ name, description, ...given, policy: given.policy ?? {}, ...rest })
  const { graph, diagnostics } = parseAgentd(text, nodeKind)
  const faults = graph ? await policyFaults(house, graph, text) : diagnostics
  if (!graph || faults.some(({ severity }) => severity === 'error')) {
    return { text, steps: [], diagnostics: faults }
  }
  const steps = graph.nodes.map((node) => ({
    id: node.id,
    kind: node.kind,
    consequence: consequenceOf(node),
  }))
  return { text, graph, version: versionOf(graph), steps, diagnostics: found }
}

function tellNodes(
  value: JsonObject,
  backends: readonly string[],
  tell: ReturnType<typeof readToml>['tell'],
): void {
  const nodes = Array.isArray(value.nodes) ? value.nodes : []
  for (const [at, node] of nodes.entries()) {
    if (!isJsonObject(node)) continue
    if (typeof node.backend === 'string' && !backends.includes(node.backend)) {
      tell({
        path: ['nodes', at, 'backend'],
        code: 'plan_backend',
        message: `There is no model backend "${node.backend.slice(0, 80)}".`,
        mend: `Use one of ${backends.join(', ')}.`,
      })
    }
    if (!JSON.stringify(node).includes('{{secret:')) continue
    tell({
      path: ['nodes', at],
      code: 'plan_secret',
      message: 'A plan names no secrets.',
      mend: 'Leave the header out; the person who approves the plan adds it.',
    })
  }
}

/** The TOML in an answer: what stands in a fence where there is one. */
function tomlIn(answer: string): string {
  const fenced = /```(?:toml)?[ \t]*\r?\n([\s\S]*?)\r?\n?```/.exec(answer)
  return `${(fenced?.[1] ?? answer).trim()}\n`
}

function faultWords({ diagnostics }: Checked): string {
  return diagnostics
    .filter(({ severity }) => severity === 'error')
    .slice(0, faultsTold)
    .map(({ line, message, mend }) => `line ${line}: ${message} ${mend}`)
    .join('\n')
}

function languageWords(backends: readonly string[], given: JsonObject): string {
  const kinds = Object.entries(nodeFields).map(([type, { required, optional }]) => {
    const needs = required.join(', ') || 'nothing'
    const may = optional.filter((field) => field !== 'compensate').join(', ')
    return `- ${type}: ${nodeKind(type)?.summary ?? ''} Needs ${needs}${may === '' ? '' : `; may have ${may}`}.`
  })
  const policy = given.policy
    ? `It will run under this policy, and no plan can change it:\n${tomlText({ policy: given.policy })}`
    : ''
  return `You plan a workflow for a goal. Answer with one TOML document and nothing else.

A plan has: name, description, [[start_nodes]] (name, source = "manual", "http" or "event", entry_node), optional
[[triggers]], [[nodes]] (id, type and the type's fields) and [[edges]] (from, to, optional when, optional max_iterations
for a loop). It says nothing else: no policy, no backends, no secrets, no budget.

One node runs at a time. A node that ends with a label takes the edge whose "when" is that label: condition gives "true"
or "false", switch the text of its value, and http_request, call_mcp_tool, shell_run, call, parallel and map give "error"
when they were answered with one. A node without an edge to take ends the run. Edges from one node have different
labels. Every node can be reached from a start.

Fields that end in _from, expr and {{key}} are dotted paths: "trigger.name" for the input, "node_id.member" for what a
node gave. There are no literal paths or texts: make one with template_render and take "id.rendered".

Node types:
${kinds.join('\n')}

Model backends there are: ${backends.join(', ') || 'none'}.
${policy}
Before anything that changes the world outside, let a person decide with pause_for_approval.

Example:
name = "greet"
[[start_nodes]]
name = "main"
source = "manual"
entry_node = "words"
[[nodes]]
id = "words"
type = "template_render"
template = "Hello {{name}}"
input_from = "trigger"
`
}

/** True for a failure of the model itself, which a caller tells as it is. */
export function isModelFailure(error: unknown): error is EffectFailed {
  return error instanceof EffectFailed
}
