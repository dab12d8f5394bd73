/*
 * Remote agents: each has checkpoints, a memory of what it answered, and a state of its own. A message to one may be lost
 * on its way there or back, doubled, or answered when nobody waits any more; an agent may die after any of them, and comes
 * back with what it wrote down. Half of them speak two phases.
 *
 * An agent does one rollback of one checkpoint once, and gives the same answer ever after. Whoever asks is held to the
 * protocol in `AgentWatch`.
 */
import { type Hash, hashJson } from '@/lib/base/hash'
import {
  type Action,
  EffectFailed,
  type Effects,
  type Prepared,
  type RegisteredAgent,
  type Runner,
  type Snapshot,
  type Undone,
} from '@/lib/runners/runner'
import type { AgentMemory } from './agent-memory'
import { must } from './broken'
import type { Process } from './schedule'
import type { Stage } from './stage'
import type { World } from './world'

export const agentIds = ['x', 'y', 'z'].map((name) => `spiffe://simulated.example/agent/${name}`)

/** Of each agent by its place in the list: two speak two phases, one takes two undos at once. */
export function agentOf(id: string): RegisteredAgent {
  const at = agentIds.indexOf(id)
  return {
    id,
    name: id.slice(-1),
    baseUrl: 'https://agent.example',
    protocols: at === 2 ? ['atd'] : ['cascade'],
    limits: { connections: at === 1 ? 2 : 1 },
  }
}

/** How many undos each process has under way with an agent. */
const underWay = new WeakMap<Process, Map<string, number>>()

/** What makes a keyed kind into a step of a remote agent: its checkpoints, its votes and its undo. */
export function addAgent(runner: Runner, stage: Stage, process: Process): void {
  runner.snapshot = async (action, effects, checkpointId) => {
    const { world, agent } = placeOf(stage, action, effects)
    return message(stage, process, `snapshot ${action.node}`, effects.signal, () => {
      const { state } = world.target(action.node)
      const worth = stage.dice.weighted({
        fine: 12,
        expired: 0.5,
        hash_mismatch: 0.5,
        unknown_checkpoint: 0.5,
      })
      world.agents.checkpoints.set(checkpointId, { node: action.node, state, worth })
      const sealed = { agent, target: action.node, state }
      return { state: sealed, hash: hashJson(sealed), undo: 'remote' as const }
    })
  }
  runner.stateHash = async (action, _snapshot, effects) => {
    const { world, agent } = placeOf(stage, action, effects)
    return message(stage, process, `state of ${action.node}`, effects.signal, () => {
      const now = { target: action.node, state: world.target(action.node).state }
      return { hash: hashJson({ agent, ...now }), raw: hashJson(now) }
    })
  }
  runner.prepare = async (action, _snapshot, effects, { checkpointId }) => {
    const { world, agent } = placeOf(stage, action, effects)
    if (!agentOf(agent).protocols?.includes('cascade')) return undefined
    stage.prepareCalled(effects, checkpointId)
    return asked(stage, process, agent, `prepare ${action.node}`, world, effects.signal, () => {
      const vote = voteOn(world.agents, checkpointId)
      if (stage.rough() && stage.dice.chance(0.1)) die(stage, world.agents, agent)
      return vote
    })
  }
  runner.undo = async (action, snapshot, effects, { id, checkpointId, expectedStates }) => {
    const { world, agent } = placeOf(stage, action, effects)
    stage.undoCalled(action, effects, checkpointId)
    return counted(process, agent, () =>
      asked(stage, process, agent, `undo ${action.node}`, world, effects.signal, () =>
        execute(stage, world, agent, action, snapshot, `${id}/${checkpointId}`, checkpointId, expectedStates),
      ),
    )
  }
}

function placeOf(stage: Stage, action: Action, effects: Effects): { world: World; agent: string } {
  return { world: stage.worldOf(effects.runId), agent: String(action.do.agent) }
}

function voteOn({ checkpoints }: AgentMemory, checkpointId: string): Prepared {
  const worth = checkpoints.get(checkpointId)?.worth ?? 'unknown_checkpoint'
  if (worth === 'fine') return { vote: 'prepared', description: 'It can' }
  return { vote: 'cannot_prepare', reason: worth, description: 'It cannot' }
}

function execute(
  stage: Stage,
  world: World,
  agent: string,
  { node }: Action,
  snapshot: Snapshot,
  key: string,
  checkpointId: string,
  expectedStates: readonly Hash[] | undefined,
): Undone {
  const memory = world.agents
  const known = memory.answers.get(key)
  const before = hashJson({ agent, target: node, state: world.target(node).state })
  let isForeign = false
  if (known === undefined) {
    const kept = memory.checkpoints.get(checkpointId)
    const { state } = world.target(node)
    const isExpected = expectedStates?.includes(hashJson({ target: node, state })) ?? true
    isForeign = !isExpected && state !== kept?.state
    // What it could prepare it can put back, nearly always.
    const fails = isForeign || kept?.worth !== 'fine' || (stage.rough() && stage.dice.chance(0.03))
    memory.executed.set(key, (memory.executed.get(key) ?? 0) + 1)
    if (!fails) world.undo(node, checkpointId, kept.state)
    memory.answers.set(key, fails ? 'failed' : 'completed')
    stage.schedule.note(`AGENT ${agent.slice(-1)} undoes ${node}: ${fails ? 'failed' : 'completed'}`)
    if (stage.rough() && stage.dice.chance(0.1)) die(stage, memory, agent)
  }
  const status = memory.answers.get(key) ?? 'failed'
  return {
    status,
    stateHashBefore: before,
    ...(status === 'completed' && { stateHashAfter: snapshot.hash }),
    description: `${agent} says ${isForeign ? 'that it was changed since' : status}`,
    evidence: { agent, request: key, token: `signed by ${agent}` },
  }
}

function die(stage: Stage, memory: AgentMemory, agent: string): void {
  memory.downUntil.set(agent, stage.schedule.now() + stage.dice.whole(500, 90_000))
  stage.schedule.note(`AGENT ${agent.slice(-1)} dies`)
}

/** A message to an agent, which may be dead, and its answer: each can be lost, late or doubled. */
async function asked<T>(
  stage: Stage,
  process: Process,
  agent: string,
  what: string,
  world: World,
  signal: AbortSignal,
  work: () => T,
): Promise<T> {
  const { dice, schedule } = stage
  const isDown = () => stage.rough() && (world.agents.downUntil.get(agent) ?? 0) > schedule.now()
  const way = stage.rough()
    ? dice.weighted({ there: 12, lost: 1, answer_lost: 1, doubled: 1, late: 1 })
    : 'there'
  const answer = await message(
    stage,
    process,
    what,
    signal,
    () => {
      if (isDown() || way === 'lost') return undefined
      const first = work()
      return { answer: way === 'doubled' ? work() : first }
    },
    way === 'late' ? 30_000 : 200,
  )
  if (answer !== undefined && way !== 'answer_lost') return answer.answer
  throw new EffectFailed('no_answer', `${agent} gave no answer`, { retriable: true })
}

/** Who stops waiting hears nothing; what left arrives all the same. */
function message<T>(
  stage: Stage,
  process: Process,
  what: string,
  signal: AbortSignal,
  work: () => T,
  slowMs = 50,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new EffectFailed('effect_timeout', 'No answer in time', { retriable: true }))
    if (signal.aborted) return late()
    signal.addEventListener('abort', late, { once: true })
    stage.schedule
      .call(process, what, work, { slowMs })
      .then((value) => resolve(value as T), reject)
      .finally(() => signal.removeEventListener('abort', late))
  })
}

/** Of one process an agent has as many undos at once as it takes. */
async function counted<T>(process: Process, agent: string, work: () => Promise<T>): Promise<T> {
  const counts = underWay.get(process) ?? new Map<string, number>()
  underWay.set(process, counts)
  const most = agentOf(agent).limits?.connections ?? 1
  const count = (counts.get(agent) ?? 0) + 1
  must(count <= most, () => `${agent} is asked for ${count} undos at once and takes ${most}`)
  counts.set(agent, count)
  try {
    return await work()
  } finally {
    counts.set(agent, (counts.get(agent) ?? 1) - 1)
  }
}
