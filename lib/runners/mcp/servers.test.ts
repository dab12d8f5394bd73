import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { failureOf } from '@/lib/runners/fixtures'
import { installationServers, type McpServerConfig } from './server-config'
import { type McpPool, openMcpPool } from './servers'

const root = path.resolve(import.meta.dirname, '../../..')
const rude = path.join(import.meta.dirname, 'testing/rude-server.mjs')
const never = new AbortController().signal

let folder: string
const closers: (() => Promise<unknown> | unknown)[] = []

beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hp-mcp-')))
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
  await rm(folder, { recursive: true })
})

function node(name: string, ...args: string[]): McpServerConfig {
  return { name, command: process.execPath, args, env: {}, passEnv: [] }
}

function poolOf(servers: McpServerConfig[], more: Partial<Parameters<typeof openMcpPool>[0]> = {}): McpPool {
  const pool = openMcpPool({ servers, env: (name) => process.env[name], cwd: folder, ...more })
  closers.push(() => pool.close())
  return pool
}

/** A server that misbehaves, and the process ids it noted. */
function rudePool(manner: string, limits?: Parameters<typeof openMcpPool>[0]['limits']) {
  const note = path.join(folder, 'pids')
  const pool = poolOf([node('rude', rude, manner, note)], { limits })
  const pids = async () => (await readFile(note, 'utf8')).trim().split('\n').map(Number)
  return { pool, mcp: pool.serversOf(), pids }
}

/** A process that ended and was not collected yet does not run. */
function isRunning(pid: number): boolean {
  try {
    const [state] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
    return state !== 'Z'
  } catch {
    return false
  }
}

function textIn(content: Json[]): string {
  return content.map((block) => (block as { text?: string }).text ?? '').join('')
}

describe('servers of others', () => {
  it('server-everything: tools with their annotations, calls and resources', async () => {
    const mcp = poolOf([
      node(
        'everything',
        path.join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
      ),
    ]).serversOf()
    expect(await mcp.tool('echo', never)).toMatchObject({ server: 'everything', name: 'echo' })
    const answer = await mcp.call('echo', { message: 'hello' }, never)
    expect(answer.isError).toBe(false)
    expect(textIn(answer.content)).toContain('hello')
    expect((await mcp.call('echo', { wrong: 1 }, never)).isError).toBe(true)
    const { contents } = await mcp.read('demo://resource/static/document/features.md', never)
    expect(contents).toHaveLength(1)
  })

  it('server-filesystem: reads what its folder holds, and says so when it is outside', async () => {
    await writeFile(path.join(folder, 'a.txt'), 'from the folder')
    const mcp = poolOf([
      node(
        'files',
        path.join(root, 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'),
        folder,
      ),
    ]).serversOf()
    expect(await mcp.tool('read_text_file', never)).toMatchObject({ readOnly: true })
    expect(await mcp.tool('write_file', never)).toMatchObject({
      readOnly: false,
      destructive: true,
      idempotent: true,
    })
    const read = await mcp.call('read_text_file', { path: path.join(folder, 'a.txt') }, never)
    expect(textIn(read.content)).toBe('from the folder')
    expect((await mcp.call('read_text_file', { path: '/etc/passwd' }, never)).isError).toBe(true)
  })

  it('server-everything over streamable HTTP, also after it forgot the session', async () => {
    const port = await freePort()
    const start = async () => {
      const child = spawn(
        process.execPath,
        [
          path.join(root, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'),
          'streamableHttp',
        ],
        {
          env: { PATH: process.env.PATH, PORT: String(port) } as unknown as NodeJS.ProcessEnv,
          stdio: 'pipe',
        },
      )
      await new Promise<void>((resolve) =>
        child.stderr.on('data', (text) => /listening/i.test(`${text}`) && resolve()),
      )
      return async () => {
        if (child.signalCode !== null) return
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await gone
      }
    }
    let stop = await start()
    closers.push(() => stop())
    const mcp = poolOf([{ name: 'far', url: `http://127.0.0.1:${port}/mcp`, headers: {} }]).serversOf()
    expect(textIn((await mcp.call('echo', { message: 'one' }, never)).content)).toContain('one')
    await stop()
    stop = await start()
    expect(textIn((await mcp.call('echo', { message: 'two' }, never)).content)).toContain('two')
    await stop()
    const failure = await failureOf(mcp.call('echo', { message: 'three' }, never))
    expect(failure).toMatchObject({ code: 'mcp_unreachable', retriable: true })
    expect(failure.message).toContain('"far" could not be reached: ECONNREFUSED')
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a server’s life', () => {
  it('starts at the first call, once for all who call, and ends at the close', async () => {
    const { pool, mcp, pids } = rudePool('polite')
    await expect(pids()).rejects.toThrow('ENOENT')
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => mcp.call('echo', {}, new AbortController().signal)),
    )
    expect(new Set(answers.map(({ structured }) => JSON.stringify(structured))).size).toBe(1)
    const [pid = 0, ...others] = await pids()
    expect(others).toEqual([])
    expect(isRunning(pid)).toBe(true)
    await pool.close()
    expect(isRunning(pid)).toBe(false)
    expect((await failureOf(mcp.call('echo', {}, never))).code).toBe('mcp_stopped')
  })

  it('is started again after it died', async () => {
    const { mcp, pids } = rudePool('polite')
    await mcp.call('echo', {}, never)
    const [first = 0] = await pids()
    process.kill(first, 'SIGKILL')
    // Either this call meets the end, or it meets the new server; the one after it meets the new server.
    await mcp.call('echo', {}, never).catch(() => undefined)
    expect((await mcp.call('echo', {}, never)).structured).not.toEqual({ pid: first })
  })

  it('that never comes up does not hold up the end', async () => {
    const { pool, mcp, pids } = rudePool('mute')
    const waiting = failureOf(mcp.call('echo', {}, never))
    while (!existsSync(path.join(folder, 'pids'))) await new Promise((resolve) => setTimeout(resolve, 5))
    await pool.close()
    expect((await waiting).code).toMatch(/^mcp_/)
    expect((await pids()).filter(isRunning)).toEqual([])
  })

  it('leaves nothing running, also what it forked away', async () => {
    const { pool, mcp, pids } = rudePool('forks')
    await mcp.call('echo', {}, never)
    const all = await pids()
    expect(all).toHaveLength(2)
    await pool.close()
    expect(all.filter(isRunning)).toEqual([])
  })

  it('knows of the environment PATH, HOME and what was declared', async () => {
    process.env.HP_TEST_SECRET = 'hush'
    process.env.HP_TEST_HANDED = 'on'
    const mcp = poolOf([
      {
        name: 'rude',
        command: process.execPath,
        args: [rude],
        env: { LEVEL: 'info' },
        passEnv: ['HP_TEST_HANDED'],
      },
    ]).serversOf()
    const seen = JSON.parse(textIn((await mcp.call('echo', {}, never)).content)) as {
      env: object
      cwd: string
    }
    expect(Object.keys(seen.env).sort()).toEqual(['HOME', 'HP_TEST_HANDED', 'LEVEL', 'PATH'])
    expect(seen.cwd).toBe(folder)
  })

  it('is one process for two workflows that configure it alike', async () => {
    const pool = poolOf([])
    const own = [node('mine', rude, 'polite', path.join(folder, 'pids'))]
    const [one, two] = [pool.serversOf(own), pool.serversOf(own)]
    expect((await one.call('echo', {}, never)).structured).toEqual(
      (await two.call('echo', {}, never)).structured,
    )
  })
})

describe('what servers do wrong', () => {
  it.each<[string, string, string]>([
    ['rubbish', 'mcp_server_gone', 'lines that are no MCP messages'],
    ['flood', 'mcp_server_gone', 'sent a message larger than 8 MiB'],
    ['exit', 'mcp_server_gone', 'ended by itself (exit code 3)'],
    ['mute', 'mcp_timeout', 'did not answer in time'],
  ])('%s at its start', async (manner, code, words) => {
    const { mcp, pids } = rudePool(manner, { startMs: 3_000 })
    const failure = await failureOf(mcp.call('act', {}, never))
    expect(failure).toMatchObject({ code, outcomeUnknown: false })
    expect(failure.message).toContain('The MCP server "rude"')
    expect(failure.message).toContain(words)
    expect((await pids()).filter(isRunning)).toEqual([])
  })

  it.each<[string, string, string, boolean]>([
    ['dies', 'mcp_server_gone', 'ended by itself (exit code 9)', true],
    ['big', 'mcp_server_gone', 'sent a message larger than 8 MiB', true],
    ['deep', 'mcp_answer_invalid', 'nested too deep', true],
    ['wrong', 'mcp_answer_invalid', 'what is no MCP message', true],
  ])('%s in the middle of a call', async (manner, code, words, unknown) => {
    const { mcp } = rudePool(manner)
    const before = process.memoryUsage().rss
    const failure = await failureOf(mcp.call('act', {}, never))
    expect(failure.code).toBe(code)
    expect(failure.message).toContain(words)
    expect(failure.outcomeUnknown).toBe(unknown)
    expect(process.memoryUsage().rss - before).toBeLessThan(120e6)
    // The next call meets a new server, or the same: it is asked and does not hang.
    expect((await failureOf(mcp.call('act', {}, new AbortController().signal))).code).toBe(code)
  })

  it('never answers a call: the step’s time ends it, and the server is replaced', async () => {
    const { mcp, pids } = rudePool('deaf')
    await mcp.tool('act', never)
    const step = new AbortController()
    const late = failureOf(mcp.call('act', {}, step.signal))
    setImmediate(() => step.abort())
    expect(await late).toMatchObject({ code: 'mcp_timeout', errorType: 'timeout', outcomeUnknown: true })
    expect((await failureOf(mcp.read('x://y', AbortSignal.timeout(5_000)))).code).toBe('mcp_timeout')
    const [first = 0, second] = await pids()
    expect(isRunning(first)).toBe(false)
    expect(second).toBeDefined()
  })

  it('cannot be started, is unknown, or is none', async () => {
    const nowhere: McpServerConfig = { name: 'x', command: '/nowhere/server', args: [], env: {}, passEnv: [] }
    const failure = await failureOf(poolOf([nowhere]).serversOf().call('act', {}, never))
    expect(failure).toMatchObject({ code: 'mcp_server_gone', outcomeUnknown: false })
    expect(failure.message).toContain('could not be started: ENOENT')
    expect(await failureOf(poolOf([nowhere]).serversOf().call('act', {}, never, 'y'))).toMatchObject({
      code: 'mcp_server_unknown',
      message: 'There is no MCP server "y"; configured are x.',
    })
    expect((await failureOf(poolOf([]).serversOf().call('act', {}, never))).message).toContain(
      'There are no MCP servers',
    )
    const two = poolOf([node('a', rude), node('b', rude)]).serversOf()
    expect(await failureOf(two.call('nothing', {}, never))).toMatchObject({
      code: 'mcp_tool_unknown',
      retriable: false,
    })
    expect((await failureOf(two.read('x://y', never))).code).toBe('mcp_refused')
  })

  it('may be asked only for what its own list names', async () => {
    const listed = { ...node('rude', rude), allowTools: ['ec*'], allowResources: ['docs://*'] }
    const mcp = poolOf([listed]).serversOf()
    expect((await mcp.call('echo', {}, never)).isError).toBe(false)
    expect(await failureOf(mcp.call('act', {}, never))).toMatchObject({
      code: 'policy_denied',
      retriable: false,
      message: 'mcp.tool denied on act: the MCP server "rude" does not list it under allow_tools',
    })
    expect((await failureOf(mcp.tool('act', never))).code).toBe('policy_denied')
    expect((await failureOf(mcp.read('file:///etc/passwd', never))).message).toContain(
      'mcp.resource denied on file:///etc/passwd',
    )
    expect((await failureOf(mcp.read('docs://a', never))).code).toBe('mcp_refused')
  })

  it('an HTTP server that sends 100 MB is cut off', async () => {
    let sent = 0
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (sent < 100e6) {
          sent += 65_536
          if (!response.write(' '.repeat(65_536))) return void response.once('drain', more)
        }
        response.end()
      }
      more()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closers.push(() => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    const mcp = poolOf([{ name: 'far', url: `http://127.0.0.1:${port}/mcp`, headers: {} }]).serversOf()
    const failure = await failureOf(mcp.call('act', {}, never))
    expect(failure).toMatchObject({ code: 'mcp_answer_invalid' })
    expect(failure.message).toContain('larger than 8 MiB')
    expect(sent).toBeLessThan(50e6)
  })
})

describe('the installation’s servers', () => {
  const nothing = () => undefined

  it('are agentd’s switch as default, then tools.json in either spelling', () => {
    const env = (name: string) => (name === 'AGENTD_MCP_STDIO' ? 'node  server.mjs --quiet' : undefined)
    const list = JSON.stringify({
      servers: [{ name: 'far', url: 'https://mcp.example.com/', bearer_env: 'TOKEN' }],
    })
    expect(installationServers(list, env)).toEqual([
      { name: 'default', command: 'node', args: ['server.mjs', '--quiet'], env: {}, passEnv: [] },
      { name: 'far', url: 'https://mcp.example.com/', headers: {}, bearerEnv: 'TOKEN' },
    ])
    const map = JSON.stringify({ mcpServers: { docs: { command: 'docs', env: { A: 'b' } } } })
    expect(installationServers(map, nothing)).toEqual([
      { name: 'docs', command: 'docs', args: [], env: { A: 'b' }, passEnv: [] },
    ])
    expect(installationServers(undefined, nothing)).toEqual([])
  })

  it.each([
    ['{', 'is not JSON'],
    ['{}', 'tools.json is not right'],
    ['{"servers":[{"name":"x"}]}', 'either a command or a url'],
    [
      '{"servers":[{"name":"x","command":"y","pass_env":["HOLDPOINT_KEY"]}]}',
      'variable of the installation itself',
    ],
    ['{"servers":[{"name":"x","url":"file:///etc"}]}', 'servers.0.url'],
  ])('tools.json %s is refused', (file, words) => {
    expect(() => installationServers(file, nothing)).toThrow(words)
  })
})
