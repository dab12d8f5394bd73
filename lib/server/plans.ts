/*
 * Plans that models made from goals (goal.ts), between being made and being approved.
 *
 *   goal ─▶ planned, kept as a value ─▶ a person approves its hash ─▶ a version of the library ─▶ runs
 *                                     ╰▶ nobody does: it stays a value, and nothing can run it
 *
 * A plan is no workflow until then: it stands in no list, and starting its version is refused. What is approved is the
 * text itself, read again and hashed again at that moment. Who stated the goal and who approved the plan stand at the
 * head of the version's source, as comments, which the hash does not depend on.
 */
import { z } from 'zod'
import { actorOf, holds, type PersonPrincipal } from '@/lib/auth/principal'
import { canonicalJson } from '@/lib/base/canonical-json'
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import { plainActor } from '@/lib/view/plain-words'
import type { PlanChoices, PlanView } from '@/lib/view/workflow-wire'
import { versionOf } from '@/lib/workflow/versions'
import { isModelFailure, planGoal } from './goal'
import { roleMissing } from './http/route'
import type { Installation } from './installation'
import { refuseMarked } from './plan-mark'
import { type Imported, importWorkflow, readWorkflowHere } from './workflows'

const planMediaType = 'application/vnd.holdpoint.plan+json'
/** Configurations that are offered. */
const offered = 100
/** Versions remembered as planned and not approved, to say so when somebody starts one. */
const remembered = 200

const keptPlan = z.object({
  goal: z.string(),
  text: z.string(),
  version: z.string().optional(),
  attempts: z.int(),
  by: z.string(),
  at: z.number(),
})

type KeptPlan = z.infer<typeof keptPlan>

const pending = new WeakMap<Installation, Set<string>>()

/** What a goal can be planned with here. */
export async function planChoices(installation: Installation): Promise<PlanChoices> {
  const summaries = await installation.store.workflows.summaries()
  const files = summaries.filter(({ format }) => format === 'agentd').slice(0, offered)
  const configurations = await Promise.all(
    files.map(async ({ version, name }) => {
      const { graph } = await installation.graphOf(version)
      return { version, name, backends: (graph.backends ?? []).map((backend) => backend.name) }
    }),
  )
  return { backends: installation.reachable.backends.map(({ name }) => name), configurations }
}

export interface PlanWish {
  goal: string
  backend?: string
  /** Version whose policy, models, secrets and budget the plan is given. */
  configuration?: string
  by: string
  signal: AbortSignal
}

/** Plans a workflow for a goal and keeps the plan. Throws Problem `bad_request`, `not_found` and `model_failed`. */
export async function makeGoalPlan(installation: Installation, wish: PlanWish): Promise<PlanView> {
  const { goal, backend, signal, by } = wish
  const config = await configurationText(installation, wish.configuration)
  const made = await planGoal(installation, { goal, backend, config, signal }).catch((error) => {
    if (!isModelFailure(error)) throw error
    throw new Problem('model_failed', `The model could not be asked for a plan: ${error.message}`)
  })
  const { text, version, graph, diagnostics, attempts } = made
  const kept: KeptPlan = {
    goal: goal.trim(),
    text,
    version,
    attempts,
    by,
    at: installation.ports.timer.now(),
  }
  const plan = await keep(installation, kept)
  if (version) remember(installation, version)
  return {
    plan,
    goal: kept.goal,
    text,
    version,
    graph,
    diagnostics,
    attempts,
    plannedBy: by,
    plannedAt: kept.at,
  }
}

async function configurationText(installation: Installation, version: string | undefined) {
  if (version === undefined) return undefined
  const record = await installation.store.workflows.get(version)
  if (record?.format === 'agentd') return record.source
  throw new Problem(
    'not_found',
    `No agentd workflow is stored as "${version.slice(0, 60)}" to take a policy from`,
  )
}

async function keep(installation: Installation, kept: KeptPlan): Promise<string> {
  const text = canonicalJson(kept)
  const hash = sha256(text)
  await installation.ports.ledger.putValue({
    hash,
    mediaType: planMediaType,
    bytes: Buffer.from(text, 'utf8'),
  })
  return hash
}

function remember(installation: Installation, version: string): void {
  const known = pending.get(installation) ?? new Set()
  pending.set(installation, known)
  known.add(version)
  const [oldest] = known
  if (known.size > remembered && oldest !== undefined) known.delete(oldest)
}

/** Throws Problem `plan_not_approved` for a version that is a plan nobody has approved. */
export function refuseUnapproved(installation: Installation, version: string): void {
  if (!pending.get(installation)?.has(version)) return
  throw new Problem(
    'plan_not_approved',
    'This version is a plan that nobody has approved; approve that very plan first, then start it',
  )
}

/** Throws Problem `plan_not_approved` for a text that is marked as a plan: it was made elsewhere, and is approved there. */
export function refusePlanText(text: string): void {
  refuseMarked(
    text,
    'This text',
    'approve it where it was made (npx holdpoint run FILE --approve-plan HASH), or state the goal here under Workflows and approve the plan you are shown',
  )
}

/** A plan as it was made. Throws Problem `not_found` when there is none of that hash and version. */
export async function goalPlan(installation: Installation, version: string, plan: string): Promise<PlanView> {
  const kept = await keptOf(installation, version, plan)
  const { graph, diagnostics } = await readWorkflowHere(installation, kept.text, 'plan.toml')
  const { goal, text, attempts, by: plannedBy, at: plannedAt } = kept
  return { plan, goal, text, version, graph, diagnostics, attempts, plannedBy, plannedAt }
}

async function keptOf(installation: Installation, version: string, plan: string): Promise<KeptPlan> {
  const value = await installation.ports.ledger.value(plan)
  const text = value?.mediaType === planMediaType ? Buffer.from(value.bytes).toString('utf8') : 'null'
  const kept = keptPlan.safeParse(JSON.parse(text))
  if (kept.success && kept.data.version === version) return kept.data
  throw new Problem(
    'not_found',
    `No plan of version "${version.slice(0, 60)}" is kept as "${plan.slice(0, 60)}"`,
  )
}

/**
 * Imports the very plan that was shown: one version, named by its hash. Throws Problem `role_missing` unless the person
 * is both author and operator, `not_found`, and `workflow_invalid` when it cannot be run here any more.
 */
export async function approvePlan(
  installation: Installation,
  principal: PersonPrincipal,
  { version, plan }: { version: string; plan: string },
): Promise<Imported> {
  for (const role of ['author', 'operator']) if (!holds(principal, role)) throw roleMissing(principal, role)
  const kept = await keptOf(installation, version, plan)
  const by = actorOf(principal)
  const read = await readWorkflowHere(installation, kept.text, 'plan.toml')
  if (read.graph && versionOf(read.graph) !== version) throw moved()
  const imported = await importWorkflow(installation, `${head(kept, by, installation)}${kept.text}`, {
    filename: 'plan.toml',
    by,
  })
  pending.get(installation)?.delete(version)
  installation.log.info({ version, plan, by, plannedBy: kept.by }, `Approved a plan as ${version}`)
  return imported
}

function moved(): Problem {
  return new Problem(
    'plan_not_approved',
    'This plan reads as another one now, so it was not approved; plan it again',
  )
}

/** Who wanted it and who let it be, kept in the version's source. */
function head({ goal, by, at }: KeptPlan, approver: string, { ports }: Installation): string {
  const time = (ms: number) => new Date(ms).toISOString()
  const lines = [
    `Planned from a goal that ${plainActor(by)} stated at ${time(at)}:`,
    ...goal.split(/[\r\n\u2028\u2029]+/).map((line) => `  ${line.replaceAll(/\p{Cc}/gu, ' ').slice(0, 500)}`),
    `Approved as this very plan by ${plainActor(approver)} at ${time(ports.timer.now())}.`,
  ]
  return `${lines.map((line) => `# ${line}`).join('\n')}\n\n`
}
