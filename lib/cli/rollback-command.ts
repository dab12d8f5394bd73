/*
 * `holdpoint rollback RUN --node NODE`: what a rollback would do, and with `--yes` that it is done. The plan is made and
 * asked for here, in the name of whoever runs the command; the worker of a server, or `holdpoint worker`, on the same data
 * folder does it, with its own folders, keys and tools. This command only reads along until it is over or waits for a person.
 */
import os from 'node:os'
import type { PersonPrincipal } from '@/lib/auth/principal'
import type { RunId } from '@/lib/base/ids'
import { Problem } from '@/lib/base/problem'
import type { Plan } from '@/lib/rollback/plan'
import type { RollbackScope } from '@/lib/rollback/terms'
import type { Installation } from '@/lib/server/installation'
import type { RollbackView } from '@/lib/view/rollback-wire'
import { exitCode } from './exit-codes'
import { inKnownInstallation } from './known-installation'
import { endWords, newsOf, planWords } from './rollback-words'
import { UsageError } from './usage-error'

export interface RollbackOptions {
  node: string
  scope?: keyof typeof scopes
  reason?: string
  /** Seconds. */
  deadline: number
  plan?: boolean
  yes?: boolean
  digest?: string
  data?: string
  json?: boolean
}

/** As they are written on the command line. */
const scopes = {
  single: 'single',
  'sub-dag': 'sub_dag',
  full: 'full_workflow',
} as const satisfies Record<string, RollbackScope>

/** Prints the plan; with `--yes` executes it and follows it to its end. 5 where it is forbidden or did not complete, 7 where it waits. */
export async function rollbackCommand(run: string, options: RollbackOptions): Promise<number> {
  if (options.plan && options.yes)
    throw new UsageError('nothing was done: --plan only looks, --yes executes; say one of the two')
  const { runIdFrom } = await import('@/lib/server/run-id')
  const runId = runIdFrom(run)
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return inKnownInstallation(options.data, async (house) => {
    const { planFor, planViewOf } = await import('@/lib/server/rollbacks')
    const { node, scope, json } = options
    const plan = await planFor(house, runId, caller(), { node, ...(scope && { scope: scopes[scope] }) })
    const executes = options.yes === true && !options.plan
    if (json && !executes) console.log(JSON.stringify(planViewOf(plan)))
    else (executes ? console.error : console.log)(planWords(plan))
    if (options.plan) return plan.forbidden ? exitCode.failed : exitCode.ok
    checkAgreed(plan, options)
    const view = await executed(house, runId, plan, options, stop.signal)
    if (json) console.log(JSON.stringify(view))
    console.error(`holdpoint: ${endWords(view)}`)
    return codeOf(view)
  })
}

/** Whoever holds the data folder may do in it what a coordinator may. */
function caller(): PersonPrincipal {
  const name = `${os.userInfo().username}+cli`
  return { kind: 'person', id: '', name, roles: ['coordinator'], session: '' }
}

/** Throws where the plan cannot be executed, is another one than was agreed to, or nobody agreed to all it reaches. */
function checkAgreed(
  { forbidden, digest, scope }: Plan,
  { yes, digest: agreed, scope: asked }: RollbackOptions,
): void {
  if (forbidden) throw new Problem(forbidden.code, forbidden.sentence)
  if (agreed !== undefined && agreed !== digest) {
    throw new Problem(
      'rollback_plan_changed',
      `The plan is another one than ${agreed.slice(0, 80)}, so nothing was done; its digest is ${digest} now`,
    )
  }
  if (scope === 'full_workflow' && asked === undefined)
    throw new UsageError('nothing was done: no less than the whole run would be taken back; say --scope full')
  if (!yes) throw new UsageError(`nothing was done; to execute exactly this, add --yes --digest ${digest}`)
}

/** Asks for it, and tells what happens to it until it is over, waits for a person, or the signal fires. */
async function executed(
  house: Installation,
  runId: RunId,
  plan: Plan,
  { reason = 'Asked for on the command line', deadline: withinS }: RollbackOptions,
  signal: AbortSignal,
): Promise<RollbackView> {
  const { requestRollback, rollbackOf } = await import('@/lib/server/rollbacks')
  const { RunWatch } = await import('@/lib/worker/run-watch')
  const { node, scope, digest } = plan
  const id = await requestRollback(house, runId, caller(), { node, scope, digest, reason, withinS })
  const said = new Set<string>()
  const watch = new RunWatch(house.ports, [runId], [signal])
  let isAlone = false
  try {
    for (;;) {
      watch.look()
      const view = await rollbackOf(house, runId, id)
      const news = newsOf(plan, view).filter(([key]) => !said.has(key))
      for (const [key, sentence] of news) {
        said.add(key)
        console.error(sentence)
      }
      if (view.phase === 'over' || view.question || signal.aborted) return view
      const before = house.ports.timer.now()
      await watch.wait()
      // It waited its time out, and nothing came.
      const isQuiet = house.ports.timer.now() - before >= quietMs
      if (isQuiet && !isAlone && !(await isWorkedOn(house, runId))) {
        isAlone = true
        console.error(
          'Nobody works on this data folder: start `holdpoint serve` or `holdpoint worker` on it.',
        )
      }
    }
  } finally {
    watch.close()
  }
}

/** A worker that lives takes a run up within a second. */
const quietMs = 4_000

async function isWorkedOn({ store, ports }: Installation, runId: RunId): Promise<boolean> {
  const lease = (await store.runs.get(runId))?.lease
  return lease !== undefined && lease.until > ports.timer.now()
}

function codeOf({ phase, status }: RollbackView): number {
  if (phase !== 'over') return exitCode.paused
  return status === 'completed' ? exitCode.ok : exitCode.failed
}
