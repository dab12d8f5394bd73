/*
 * A step done by a registered agent, called over HTTP. The agent says what it would do, keeps its own checkpoint, does
 * it, and takes it back:
 *
 *   describe ─▶ (a person may decide) ─▶ checkpoint ─▶ execute          POST BASE/.well-known/holdpoint/task
 *                                                        ╰─▶ probe, state
 *   rollback, later                                                     POST BASE/.well-known/atd/rollback
 *   and of an agent that speaks two phases
 *     prepare ─▶ (all have voted) ─▶ execute                            POST BASE/.well-known/cascade/rollback[/prepare]
 *
 * What an agent that signs its answers says to a rollback is believed when its own key signed it for this very request.
 *
 * Each request carries a signed token (`Execution-Context`) that names the agent, the phase and the hash of the body.
 * An administrator registered the agent's address, so a private one is fine, and only that one: the rollback goes to
 * the same origin or nowhere. Agents promise that the same idempotency key acts once.
 *
 * The checkpoint sealed here holds the agent's checkpoint id and the hash of the agent's own state. State hashes are
 * given in the same form, with the agent's present hash in that place, so that equal hashes mean equal states. An agent
 * that says in its answer to `execute` what state it left makes it known when somebody else changes that afterwards.
 */
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { type AgentConfig, agentConfig, spiffeId } from '@/lib/nodes/agent'
import { narrowed } from '@/lib/nodes/node-kind'
import type { GraphNode } from '@/lib/workflow/graph'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { checkpointAnswer, describeAnswer, executeAnswer, probeAnswer, stateAnswer } from './agent-answers'
import { rollbackUrl, sealed } from './agent-checkpoint'
import { type Asking, ask, type Registered, registered, spoken } from './agent-request'
import { prepareRollback, rollBackAtAgent } from './agent-rollback'
import { notDone } from './dry-run'
import { actionOf, configOf, definedOnly, given, refusal } from './resolved'
import { type Action, EffectFailed, type Effects, type RegisteredAgent, type Runner } from './runner'
import { oneLine } from './words'

const agentDo = z.strictObject({ agent: spiffeId, operation: z.string().min(1).max(200), input: z.json() })

type AgentDo = z.infer<typeof agentDo>

export const agentRunner: Runner = {
  async resolve(step) {
    const config = configOf(agentConfig, step.node)
    const named = config.input !== undefined || config.input_from !== undefined
    return {
      agent: config.agent,
      operation: operationOf(config, step.node),
      input: named
        ? await given(step, 'input', config.input, config.input_from)
        : await step.values.ofParents(),
    }
  },

  async describe(action, step, effects) {
    const wanted = actionOf(agentDo, action, step.node.id)
    const agent = await registered(wanted.agent, effects)
    const about: JsonObject = { run: step.runId, node: step.node.id, visit: step.visit, ...wanted }
    const said = effects.dryRun
      ? unasked(wanted, agent)
      : await ask(agent, 'describe', about, describeAnswer, effects)
    const consequence = narrowed(said.consequence, step.node)
    return {
      action: {
        kind: 'agent',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence,
        target: said.target || agent.name,
        sentence: said.sentence,
        ...(consequence === 'reversible'
          ? {
              undo: 'remote' as const,
              undoSentence: said.undo_sentence || `Ask ${oneLine(agent.name, 100)} to put its state back`,
            }
          : {}),
      },
      ...(said.preview ? { preview: { show: 'diff' as const, ...said.preview } } : {}),
    }
  },

  async snapshot(action, effects, checkpointId) {
    const { agent, about } = await aboutAction(action, effects)
    const said = await ask(
      agent,
      'checkpoint',
      { ...about, checkpoint_id: checkpointId },
      checkpointAnswer,
      effects,
    )
    if (action.consequence === 'reversible' && !said.reversible) {
      throw refusal(
        'agent_withdrew',
        `${spoken(agent)} now says that this cannot be undone; mark the step irreversible or ask the agent's owner.`,
      )
    }
    rollbackUrl(agent, said.rollback_uri)
    const state = {
      agent: agent.id,
      checkpoint_id: said.checkpoint_id,
      out_hash: said.out_hash,
      rollback_uri: said.rollback_uri,
    }
    return { state, hash: hashJson(state), undo: 'remote', rollbackUri: said.rollback_uri, ttlS: said.ttl }
  },

  async perform(action, effects, snapshot) {
    const { agent, about, wanted } = await aboutAction(action, effects)
    if (effects.dryRun) return notDone({ agent: wanted.agent, operation: wanted.operation })
    const checkpoint: JsonObject = snapshot ? { checkpoint_id: sealed(snapshot).checkpoint_id } : {}
    const said = await ask(agent, 'execute', { ...about, ...checkpoint }, executeAnswer, effects)
    const { output, label, state_hash: left } = said
    const changed = left && snapshot && { found: sealed(snapshot).out_hash, left }
    return { output, ...(label !== undefined && { label }), ...(changed && { changed }) }
  },

  async probe(action, snapshot, effects) {
    try {
      const { agent, about } = await aboutAction(action, effects)
      const request = { ...about, checkpoint_id: sealed(snapshot).checkpoint_id }
      return (await ask(agent, 'probe', request, probeAnswer, effects)).outcome
    } catch (error) {
      if (error instanceof EffectFailed) return 'unknown' // Who cannot answer has not told.
      throw error
    }
  },

  async stateHash(action, snapshot, effects) {
    const { agent, about } = await aboutAction(action, effects)
    const checkpoint = sealed(snapshot)
    const request = { ...about, checkpoint_id: checkpoint.checkpoint_id }
    const said = await ask(agent, 'state', request, stateAnswer, effects)
    return { hash: hashJson({ ...checkpoint, out_hash: said.state_hash }), raw: said.state_hash }
  },

  async prepare(_action, snapshot, effects, rollback) {
    return prepareRollback(snapshot, effects, rollback)
  },

  // Of its state there is a hash here and no more: it may show it itself.
  async undoPreview(action, snapshot, effects) {
    const { agent, about } = await aboutAction(action, effects)
    const { checkpoint_id } = sealed(snapshot)
    const request = { ...about, checkpoint_id, undo_preview: true }
    const { undo_preview: shown } = await ask(agent, 'state', request, stateAnswer, effects)
    const preview = shown && { title: shown.title, now: shown.before, after: shown.after }
    return { of: 'agent', agent: agent.id, ...(preview && { preview }) }
  },

  async undo(_action, snapshot, effects, rollback) {
    return rollBackAtAgent(snapshot, effects, rollback)
  },
}

/** What the agent of a step is asked to do, in its own words. */
export function operationOf({ operation }: AgentConfig, node: GraphNode): string {
  return operation ?? oneLine(nodeLabel(node), 200)
}

/**
 * Asks an agent the one question that changes nothing and needs no checkpoint: what state an operation's target is in.
 * Who asks has no run; it is the call itself that matters. Throws EffectFailed.
 */
export async function askState(
  agent: RegisteredAgent,
  about: { node: string; operation: string },
  asking: Asking,
): Promise<void> {
  await ask(agent, 'state', { ...about, visit: 1, agent: agent.id, input: {} }, stateAnswer, asking)
}

/** The agent an action is for, and what every request about it says. */
async function aboutAction(action: Action, effects: Effects) {
  const wanted = actionOf(agentDo, action.do, action.node)
  const agent = await registered(wanted.agent, effects)
  return {
    agent,
    wanted,
    about: definedOnly({ run: effects.runId, node: action.node, visit: action.visit, ...wanted }),
  }
}

function unasked(wanted: AgentDo, agent: Registered): z.infer<typeof describeAnswer> {
  return {
    sentence: oneLine(`Ask ${agent.name} to do "${wanted.operation}"`),
    target: oneLine(agent.name, 200),
    consequence: 'reversible',
  }
}
