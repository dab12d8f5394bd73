import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isProblem, Problem } from '@/lib/base/problem'
import type { Consequence } from '@/lib/nodes/node-kind'
import type { GoalPlan } from '@/lib/server/goal'
import { markedPlan } from '@/lib/server/plan-mark'
import { dataFolder } from './data-folder'
import { exitCode } from './exit-codes'
import { readText } from './parse-options'
import { UsageError } from './usage-error'

export interface PlanOptions {
  planOut?: string
  backend?: string
  config?: string
  data?: string
  json?: boolean
}

const words: Record<Consequence, string> = {
  read_only: 'only reads',
  reversible: 'can be taken back',
  irreversible: 'CANNOT be taken back',
}

/**
 * `holdpoint plan GOAL`: asks a model for a workflow, checks it, and shows what it would do. Nothing is run, and the text
 * is marked as a plan (plan-mark.ts). Exit 0 with a plan, 5 when three answers were none, or the model could not be asked.
 * Throws UsageError for a goal or a configuration that is none.
 */
export async function planCommand(goal: string, options: PlanOptions): Promise<number> {
  const { planOut } = options
  if (planOut !== undefined && existsSync(planOut)) {
    throw new UsageError(`${planOut} is there already; name a new file with --plan-out`)
  }
  const plan = marked(await planned(goal, options))
  if (plan.graph && planOut !== undefined) writeFileSync(planOut, plan.text, { flag: 'wx' })
  if (options.json) {
    const { graph, ...told } = plan
    console.log(JSON.stringify({ valid: graph !== undefined, name: graph?.name, ...told }))
  } else if (plan.graph) print(plan, options)
  else refuse(plan)
  return plan.graph ? exitCode.ok : exitCode.failed
}

function marked(plan: GoalPlan): GoalPlan {
  return plan.version === undefined ? plan : { ...plan, text: markedPlan(plan.text, plan.version) }
}

async function planned(goal: string, { backend, config, data }: PlanOptions): Promise<GoalPlan> {
  const { planGoal, isModelFailure } = await import('@/lib/server/goal')
  const { openInstallation } = await import('@/lib/server/open-installation')
  const { createLog } = await import('@/lib/server/log')
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  const configText = config === undefined ? undefined : readText(config)
  const folders = [process.cwd(), ...(config === undefined ? [] : [path.dirname(path.resolve(config))])]
  const house = await openInstallation({
    dataDir: dataFolder(data).path,
    origin: 'http://localhost:3000',
    log: createLog(process.env.HOLDPOINT_LOG ?? 'warn'),
    roots: [process.cwd()],
    authoredFolders: folders,
    unconfined: true,
  })
  try {
    return await planGoal(house, {
      goal,
      signal: stop.signal,
      ...(backend === undefined ? {} : { backend }),
      ...(configText === undefined ? {} : { config: configText }),
    })
  } catch (error) {
    if (isModelFailure(error)) throw new Problem('bad_request', error.message)
    // What was given with the command: the goal, or the file of --config.
    if (isProblem(error, 'bad_request') && error.data.field) throw new UsageError(error.message)
    throw error
  } finally {
    await house.close()
  }
}

function print({ graph, steps, version, text, attempts }: GoalPlan, { planOut, config }: PlanOptions): void {
  if (!graph) return
  const times = attempts === 1 ? '' : ` (planned ${attempts} times)`
  console.log(`${graph.name}: ${graph.description || 'no description'}${times}`)
  const width = Math.max(...steps.map(({ id }) => id.length))
  for (const { id, kind, consequence } of steps) {
    const ways = graph.edges.filter(({ from }) => from === id)
    const next = ways.map(({ to, when }) => (when === undefined ? to : `${to} when ${when}`)).join(', ')
    console.log(`  ${id.padEnd(width)}  ${kind}, ${words[consequence]}${next === '' ? '' : ` → ${next}`}`)
  }
  console.log(`Hash ${version}`)
  if (config === undefined) {
    console.error('Without --config the plan is allowed nothing: its [policy] is empty, and you fill it.')
  }
  if (planOut === undefined) {
    console.log(`\n${text}`)
    return
  }
  console.error(`Nothing was run. Read it, then: npx holdpoint run ${planOut} --approve-plan ${version}`)
}

function refuse({ diagnostics, attempts }: GoalPlan): void {
  console.error(`The model gave no plan that can run, asked ${attempts} times; of the last one:`)
  for (const { line, severity, message, mend } of diagnostics) {
    if (severity === 'error') console.error(`  line ${line}: ${message} ${mend}`)
  }
}
