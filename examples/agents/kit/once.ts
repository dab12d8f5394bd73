/* What happens once: a token serves one request, and the same question gets the same answer, also after a restart. */
import { type Answer, must, type Values } from './answers'
import type { Claims, Parts } from './terms'
import { sha256 } from './tokens'

const [keptMs, usedKeptMs, runsKeptMs] = [7 * 86_400_000, 960_000, 8 * 86_400_000]

/** Begins work for a run: its token serves once, and errors in that run are listened to from now on. */
export async function begin({ store, now }: Parts, { jti, wid }: Claims): Promise<void> {
  must(!(await store.get('seen', jti)), 403, 'ect_replayed', `The token ${jti} was used before.`)
  await store.put('seen', jti, { until: now() + usedKeptMs })
  await store.put('runs', wid, { until: now() + runsKeptMs })
}

/** Acts once for any of these names, each for one question. A failure that may pass is not remembered. */
export async function firstAnswer(parts: Parts, names: string[], act: () => Promise<Answer>, question = '') {
  const { agent, store, now, log } = parts
  const asked = sha256(question)
  for (const name of names) {
    const earlier = await store.get<{ answer: Answer; asked: string }>('answers', sha256(name))
    const isSame = !earlier || earlier.asked === asked
    must(isSame, 409, 'idempotency_key_reused', 'This idempotency key was used for another request.')
    if (earlier) return earlier.answer
  }
  const answer = await act()
  const isOver = answer.status < 400 || (answer.body as Values).retriable === false
  for (const at of isOver ? names : []) await store.put('answers', sha256(at), { asked, answer, until: now() + keptMs })
  log(`${agent.name} answered ${answer.status} to ${names.at(-1)}`)
  return answer
}
