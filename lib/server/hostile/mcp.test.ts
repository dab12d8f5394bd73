/** MCP servers that misbehave under a step: each ends in one sentence, and none is left running. */
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMcpPool } from '@/lib/runners/mcp/servers'
import { edge, node, running, Scene, workflow } from './scene'

const rude = path.resolve(import.meta.dirname, '../../runners/mcp/testing/rude-server.mjs')

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

const calling = workflow('go', node('go', 'call_mcp_tool', 'tool = "act"', 'args_from = "trigger.args"'))

/** The installation with this server, and bounds a test can wait for. */
async function serverOf(command: string, ...args: string[]): Promise<void> {
  const house = await scene.house()
  const mcp = openMcpPool({
    servers: [
      { name: 'rude', command, args: [...args, path.join(scene.folder, 'pids')], env: {}, passEnv: [] },
    ],
    env: (name) => process.env[name],
    cwd: scene.folder,
    limits: { startMs: 10_000, requestMs: 300 },
  })
  Object.assign(house.reachable, { mcp })
  scene.atEnd(() => mcp.close())
}

describe('an MCP server', () => {
  it.each<[string, RegExp]>([
    ['rubbish', /lines that are no MCP messages/],
    ['flood', /larger than 8 MiB/],
    ['exit', /ended by itself \(exit code 3\)/],
  ])('that is %s ends the step in a sentence', async (manner, words) => {
    await serverOf(process.execPath, rude, manner)
    const outcome = await scene.served(calling)
    expect(outcome).toMatchObject({ status: 'errored', lastNode: 'go', finalValue: null })
    expect(outcome.reason).toMatch(words)
    expect(outcome.reason.length).toBeLessThan(300)
  })

  // What it did before it died is not known, so a person is asked, and nobody calls it again on his own.
  it.each<[string]>([['dies'], ['big'], ['wrong'], ['deaf'], ['deep']])(
    'that is %s in the middle of a call which may have acted leaves the outcome to a person',
    async (manner) => {
      await serverOf(process.execPath, rude, manner)
      const retrying = `${calling}[nodes.retry]\nmax_attempts = 3\nbackoff_ms = 1\non = "transient"\n`
      const outcome = await scene.served(retrying)
      expect(outcome.status, outcome.reason).toBe('paused')
      expect(outcome.waitsFor).toHaveLength(1)
      expect(outcome.reason).toMatch(/never silently done twice|cannot be undone has failed/)
    },
  )

  it('that takes the edge for errors lets the run go on', async () => {
    await serverOf(process.execPath, rude, 'exit')
    const text = `${calling}${node('told', 'terminate')}${edge('go', 'told', 'when = "error"')}`
    expect(await scene.served(text)).toMatchObject({ status: 'completed', lastNode: 'told' })
  })

  it('that forks away is gone with all it started when the installation closes', async () => {
    await serverOf(process.execPath, rude, 'forks')
    expect((await scene.served(calling)).status).toBe('completed')
    expect(running(scene.folder).length).toBeGreaterThan(0)
  })

  it('may not be brought along by a workflow of the installation', async () => {
    const own = `${calling}[[mcp_servers]]\nname = "mine"\ncommand = ["/bin/sh", "-c", "touch ${scene.folder}/ran"]\n`
    const outcome = await scene
      .served(own)
      .catch((error: Error) => ({ status: 'refused', reason: error.message }))
    expect(outcome.status).not.toBe('completed')
    expect(await import('node:fs').then(({ existsSync }) => existsSync(path.join(scene.folder, 'ran')))).toBe(
      false,
    )
  })
})
