/*
 * The probe that a person has go. An open breaker waits for the next call, and where no run calls it waits on, however
 * well the other side is meanwhile. So a registered agent that signs its answers is asked the one question of Holdpoint's
 * protocol that changes nothing and needs no run: what state the target of an operation is in. It goes to the very endpoint
 * that the refused calls go to, about the operation of the step that opened the breaker, and by the breaker's own rules:
 * after the cooldown, one at a time, never while people are asked or while somebody forced it; only an answer that the
 * agent signed for this request closes it. The circuit's chain says who asked.
 *
 * An agent that does not sign, a model, an MCP server and a host have no such question: the next call is their probe.
 */
import { sha256 } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { CallRefusal } from '@/lib/breaker/terms'
import type { CircuitRecord } from '@/lib/engine/circuit-ports'
import type { Actor } from '@/lib/engine/facts'
import { askState } from '@/lib/runners/agent'
import { type Calls, EffectFailed } from '@/lib/runners/runner'
import type { CircuitProbed } from '@/lib/view/circuit-wire'
import { type Question, questionOf } from './circuit-question'
import { circuitRow, ourCircuit } from './circuits'
import type { Installation } from './installation'

/** Who asks waits for it; well within the minute after which a probe counts as lost. */
const answerWithinMs = 20_000
/**
 * One probe now, and what came of it. Throws Problem `not_found`; `probe_impossible` where nothing can be asked without a
 * side effect; `circuit_open`, `probe_taken`, `probe_held`, `run_moved_on` where the breaker's rules let none go now.
 */
export async function probeCircuit(house: Installation, id: string, by: Actor): Promise<CircuitProbed> {
  const record = await ourCircuit(house, id)
  const question = await questionOf(house, record)
  if (!question) {
    throw new Problem(
      'probe_impossible',
      'Nothing can be asked here without a side effect; the next call after the cooldown is the probe',
    )
  }
  const said = await asked(house, record, question, by)
  const circuit = await circuitRow(house, id)
  const ok = circuit.lastProbe?.ok === true
  house.log.info({ circuit: id, by, ok }, `Probed ${record.downstream}`)
  const sentence = ok
    ? `${question.agent.name} answered, signed: the breaker is closed`
    : (said ?? `${question.agent.name} did not sign its answer, or said that it is unwell`)
  return { ok, sentence, circuit }
}

/** Asks; answers with why not, where nothing that can be read came back. */
async function asked(
  house: Installation,
  { id, wid, lastHash }: CircuitRecord,
  { agent, opener, ...about }: Question,
  by: Actor,
): Promise<string | undefined> {
  const { circuits, ports, store } = house
  const follows = (await store.circuits.tokens(id, { limit: 1 })).map(({ jti }) => jti)
  const through: Calls['through'] = (_downstream, call, verified, failed) =>
    circuits.probe(id, { by, opener }, call, { verified, failed })
  const until = ports.timer.now() + answerWithinMs
  try {
    await askState(agent, about, {
      agents: ports.agents(wid),
      calls: { through, counted: through },
      follows,
      idempotencyKey: sha256(`probe/${id}/${lastHash}`),
      now: () => ports.timer.now(),
      signal: AbortSignal.timeout(answerWithinMs),
      until,
    })
    return undefined
  } catch (error) {
    if (!(error instanceof EffectFailed)) throw error
    if (error.refusal) throw notNow(error.refusal, ports.timer.now())
    return error.message
  }
}

/** Why the breaker's rules let no probe go at `now`, for how long, and what mends it. */
function notNow({ because, retryAt }: CallRefusal, now: number): Problem {
  const retryAfterS = Math.max(1, Math.ceil((retryAt - now) / 1000))
  const data = { because, retryAfterS }
  switch (because) {
    case 'open':
      return new Problem(
        'circuit_open',
        `Its cooldown lasts another ${retryAfterS} s; a probe may go then. To let calls go at once, force the breaker closed`,
        data,
      )
    case 'forced':
      return new Problem(
        'circuit_open',
        `A person holds it open for another ${Math.ceil(retryAfterS / 60)} min. To let a probe go before, lift that`,
        data,
      )
    case 'probing':
      return new Problem('probe_taken', 'Another probe is out; what comes of it counts')
    case 'held':
      return new Problem('probe_held', 'People are asked about it; their answer lets a probe go')
  }
}
