/*
 * The lab, where there is one: what its agents were made to do wrong, and making them. The lab listens on loopback and
 * takes this only from who knows the secret that `serve --lab` gave to both; without it all of this is not there.
 */
import { z } from 'zod'
import { storyAgents } from '@/examples/lab/story'
import { Problem } from '@/lib/base/problem'
import { faultKinds, type LabView, maxSlowMs, type PresentFault } from '@/lib/view/lab-wire'
import { route } from '../current'
import { json } from '../http/route'
import { firstLabPort } from '../lab'

const answersWithinMs = 5_000

/** `GET /api/v1/lab` */
export const getLab = route({ auth: 'session' }, async () => json(await labAnswer('GET', '/faults')))

const body = z.strictObject({
  kind: z.enum(['none', ...Object.keys(faultKinds)]),
  /** Milliseconds, for `slow`. */
  ms: z.int().min(1).max(maxSlowMs).optional(),
})

/** `POST /api/v1/lab/agents/{name}/fault`: makes an agent of the lab fail, or sets it right with `none`. */
export const postFault = route(
  { auth: 'session', role: 'operator', body },
  async ({ installation, principal, params, body: fault }) => {
    const agent = storyAgents.find(({ name }) => name === params.name)
    if (!agent) throw new Problem('not_found', `The lab has no agent "${params.name?.slice(0, 60)}".`)
    const answer = await labAnswer('PUT', `/faults/${agent.name}`, fault)
    installation.log.info(
      { agent: agent.id, fault: fault.kind, by: principal.name },
      `${principal.name} made ${agent.name} ${fault.kind === 'none' ? 'work again' : `fail: ${fault.kind}`}`,
    )
    return json(answer)
  },
)

async function labAnswer(method: 'GET' | 'PUT', path: string, fault?: object): Promise<LabView> {
  const secret = process.env.HOLDPOINT_LAB_SECRET
  if (process.env.HOLDPOINT_LAB !== '1' || !secret) {
    throw new Problem(
      'not_found',
      'There is no lab here; start the console with the lab to make its agents fail.',
    )
  }
  const url = `http://127.0.0.1:${firstLabPort() + storyAgents.length}${path}`
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: fault && JSON.stringify(fault),
    redirect: 'error',
    signal: AbortSignal.timeout(answersWithinMs),
  }).catch(() => undefined)
  if (!answer?.ok) {
    throw new Problem('effect_failed', 'The lab does not answer; it may have ended. Start the console again.')
  }
  const { faults } = (await answer.json()) as { faults: Record<string, PresentFault | undefined> }
  return { agents: storyAgents.map(({ id, name }) => ({ id, name, fault: faults[name] })) }
}
