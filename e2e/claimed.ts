/* Steps that nobody is called for: an agent claims them over the API, leaves a checkpoint, and says that they are done. */
import type { Api } from './api'
import type { OutsideAgent } from './outside-agent'
import { expect } from './test'

/** Tasks that wait for somebody to claim them. */
export async function offered(api: Api): Promise<{ run: string; node: string }[]> {
  return (await api.must(api.get<{ items: { run: string; node: string }[] }>('/api/v1/tasks'))).items
}

/** Claims a task as soon as it is offered and leaves a checkpoint; gives the checkpoint's id. */
export async function claimAndCheckpoint(
  api: Api,
  run: string,
  node: string,
  agent: OutsideAgent,
  reversible = true,
): Promise<string> {
  const task = `/api/v1/tasks/${run}/${node}`
  await expect.poll(async () => (await api.post(`${task}/claim`, { agent: agent.id })).status).toBe(200)
  const taken = await api.must(
    api.post<{ checkpoint_id: string }>(`${task}/checkpoint`, {
      agent: agent.id,
      out_hash: agent.stateHash,
      reversible,
      rollback_uri: agent.rollbackUri,
      target: agent.name,
      description: `State of ${agent.name}`,
    }),
  )
  return taken.checkpoint_id
}

/** A run whose only task the agent has claimed, checkpointed and done. */
export async function doneByClaim(
  api: Api,
  agent: OutsideAgent,
): Promise<{ run: string; checkpoint: string }> {
  await api.importWorkflow({
    wf_id: 'one-task',
    nodes: [{ id: 'change', label: 'Change it', reversible: true }],
    edges: [],
  })
  const run = await api.startRun('one-task')
  await expect.poll(async () => (await offered(api)).some((one) => one.run === run)).toBe(true)
  const checkpoint = await claimAndCheckpoint(api, run, 'change', agent)
  agent.state = 'changed'
  await api.must(api.post(`/api/v1/tasks/${run}/change/complete`, { agent: agent.id, output: {} }))
  await expect.poll(async () => (await api.run(run)).row.terminal).toBe('success')
  return { run, checkpoint }
}
