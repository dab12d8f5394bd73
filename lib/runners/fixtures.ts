/* Words that the tests of runners are built from. */
import type { Json, JsonObject } from '@/lib/base/json'
import type { GraphNode, Policy } from '@/lib/workflow/graph'
import { noReach } from './no-reach'
import { resolverOf, runnerOf } from './registry'
import { type Action, EffectFailed, type Effects, type Runner, type Step } from './runner'

/** A node of a kind with its config. */
export function nodeOf(kind: string, config: JsonObject, more: Partial<GraphNode> = {}): GraphNode {
  return { id: 'n1', label: 'Step one', kind, config, priority: 'normal', extra: {}, ...more }
}

/** A step of a node, with the run's values by path. */
export function stepOf(node: GraphNode, values: Record<string, Json> = {}): Step {
  return {
    runId: 'run_1',
    node,
    visit: 1,
    values: {
      at: async (path) => values[path],
      ofParents: async () => ({ before: { answer: 42 } }),
      talk: async () => undefined,
      givenEvent: async () => undefined,
      toolCallsLeft: async () => undefined,
      artifacts: async () => [],
    },
  }
}

/** What the shell gives: no folders, no private targets and no agents unless the test says so. */
export function effectsWith(more: Partial<Effects> & { grants?: Partial<Policy> } = {}): Effects {
  const { grants, ...rest } = more
  return {
    signal: new AbortController().signal,
    idempotencyKey: 'run_1/n1/1/1',
    dryRun: false,
    policy: { roots: [], privateTargets: [], ...grants },
    installationRoots: [],
    agents: { find: async () => undefined, requestToken: async () => 'e30.e30.sig' },
    ...noReach,
    now: () => 0,
    ...rest,
  }
}

/** The runner of a kind. */
export function runnerFor(kind: string): Required<Pick<Runner, 'perform'>> & Runner {
  const runner = runnerOf(kind)
  if (!runner) throw new Error(`There is no runner for ${kind}`)
  return runner
}

/** Resolves and describes a node, as the engine does before anything happens. */
export async function described(node: GraphNode, effects: Effects, values: Record<string, Json> = {}) {
  const resolver = resolverOf(node.kind)
  if (!resolver) throw new Error(`There is no resolver for ${node.kind}`)
  const wanted = await resolver.resolve(stepOf(node, values))
  return resolver.describe(wanted, stepOf(node, values), effects)
}

/** The action a node comes to. */
export async function actionFor(
  node: GraphNode,
  effects: Effects,
  values: Record<string, Json> = {},
): Promise<Action> {
  return (await described(node, effects, values)).action
}

/** The failure something ends in; fails the test when it succeeds or throws anything else. */
export async function failureOf(work: Promise<unknown>): Promise<EffectFailed> {
  const outcome = await work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  if ('error' in outcome && outcome.error instanceof EffectFailed) return outcome.error
  if ('error' in outcome) throw outcome.error
  throw new Error(`Expected a failure, got ${JSON.stringify(outcome.value)}`)
}
