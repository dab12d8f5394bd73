/*
 * Every example is what it says it is: it validates, it runs to the outcome its first lines state, and what it changed
 * can be taken back. The models answer from files; the MCP server and the HTTP server are real ones.
 */
import { readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { exportWorkflow, readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { findFixtures } from '@/lib/server/fixtures/find-fixtures'
import { readFixture } from '@/lib/server/fixtures/read-fixture'
import { runFixtures } from '@/lib/server/fixtures/run-fixtures'
import { type RunOutcome, runOnce } from '@/lib/server/one-shot'

const folder = path.resolve(import.meta.dirname)
const never = new AbortController().signal
const made = '/tmp/holdpoint-example'

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'hp-examples-'))
})
afterAll(async () => {
  await rm(dataDir, { recursive: true, force: true })
  await rm(made, { recursive: true, force: true })
})

interface Ask {
  input?: Json
  start?: string
  /** What stands in the text instead, before it is run. */
  instead?: [string, string]
}

async function ran(example: string, { input = {}, start, instead }: Ask = {}): Promise<RunOutcome> {
  const text = await readFile(path.join(folder, `${example}.toml`), 'utf8')
  return runOnce({
    dataDir,
    workflow: { filename: `${example}.toml`, text: instead ? text.replaceAll(...instead) : text },
    workflowFolder: folder,
    input,
    dryRun: false,
    timeoutS: 60,
    signal: never,
    ...(start === undefined ? {} : { start }),
  })
}

const files = ['.', 'children'].flatMap((sub) =>
  readdirSync(path.join(folder, sub))
    .filter((name) => name.endsWith('.toml'))
    .map((name) => path.join(sub, name)),
)

describe('the files', () => {
  it.each(files)(
    '%s validates, and is the same workflow when it was written and read again',
    async (name) => {
      const text = await readFile(path.join(folder, name), 'utf8')
      const { graph, diagnostics } = readWorkflow(text, name, nodeKind)
      expect(diagnostics.filter(({ code }) => code !== 'agentd_unknown_mcp_server')).toEqual([])
      if (graph) expect(readWorkflow(exportWorkflow(graph).text, name, nodeKind).graph).toEqual(graph)
    },
  )
})

describe('the runs', () => {
  const order = 'examples/agentd/order.json'
  it.each<[string, Ask, Partial<RunOutcome>]>([
    [
      'hello',
      { input: { user: { name: 'Ada', age: 36 } } },
      { lastNode: 'greet', finalValue: { rendered: 'Good morning Ada, 36 today.' } },
    ],
    [
      'read-order',
      { input: { path: order } },
      {
        lastNode: 'say',
        finalValue: { rendered: 'Order 4711 goes to Lyon; its first line is patch cable.' },
      },
    ],
    [
      'drift',
      { input: { wanted: { mtu: 1500 }, found: { mtu: 9000, debug: true } } },
      { lastNode: 'report', finalValue: { rendered: 'mtu: wanted 1500, found 9000' } },
    ],
    ['drift', { input: { wanted: { mtu: 1 }, found: { mtu: 1 } } }, { lastNode: 'done', finalValue: null }],
    ['route', { input: { severity: 2 } }, { lastNode: 'page', finalValue: null }],
    ['route', { input: { severity: 'loud' } }, { lastNode: 'severity', status: 'completed' }],
    [
      'route',
      { input: { severity: 9 } },
      { status: 'failed', lastNode: 'unknown', reason: expect.stringContaining('no severity 9') },
    ],
    [
      'classify',
      { input: { text: 'The parcel came late and wet.' } },
      { lastNode: 'apologise', finalValue: { rendered: 'We are sorry: the parcel came late.' } },
    ],
    [
      'improve',
      { input: { topic: 'why the link was drained' } },
      {
        lastNode: 'publish',
        finalValue: { rendered: 'The link was drained because its optics ran hot.' },
      },
    ],
    ['emit', { input: { folder: `${made}/notes`, text: 'checked' } }, { lastNode: 'write' }],
    [
      'emit',
      { input: { folder: '/var/tmp/elsewhere', text: 'checked' } },
      {
        status: 'errored',
        lastNode: 'folder',
        reason: expect.stringMatching(/fs\.write denied on \/var\/tmp\/elsewhere/),
      },
    ],
    [
      'command',
      { input: { args: ['-c', 'exit 3'] } },
      { lastNode: 'explain', finalValue: { rendered: 'It ended with 3.' } },
    ],
    ['command', { input: { args: ['-c', 'echo fine'] } }, { lastNode: 'done' }],
    ['rego', { input: { path: order } }, { lastNode: 'done' }],
    [
      'rego',
      { input: { path: 'examples/agentd/rego.toml' } },
      { status: 'failed', lastNode: 'kept', reason: 'The policy keeps this file.' },
    ],
    [
      'enrich',
      { input: { company: 'Acme', country: 'FR' } },
      { lastNode: 'say', finalValue: { rendered: 'It is looked after in EMEA (FR).' } },
    ],
    ['enrich', {}, { status: 'failed', lastNode: 'unknown' }],
    [
      'both',
      { input: { company: 'Acme', country: 'JP', score: { n: 12 } } },
      { lastNode: 'say', finalValue: { rendered: 'APAC (JP), 12 points' } },
    ],
    [
      'both',
      { input: { country: 'JP', score: {} } },
      { lastNode: 'partly', finalValue: { rendered: expect.stringContaining('without points') } },
    ],
    [
      'each',
      { input: { items: [{ n: 3 }, { n: 5 }, { n: 8 }] } },
      { lastNode: 'first', finalValue: { rendered: 'The first has 3 points.' } },
    ],
    [
      'each',
      { input: { items: Array.from({ length: 21 }, (_, n) => ({ n })) } },
      { status: 'failed', lastNode: 'some', reason: 'Not every entry could be scored.' },
    ],
    ['reply', { start: 'by_hand', input: { caller: '+33 1 23 45 67 89' } }, { lastNode: 'answer' }],
    ['scheduled', { start: 'by_hand' }, { lastNode: 'done' }],
    [
      'doors',
      { start: 'by_hand', input: { principal: { kind: 'bearer', name: 'ops' } } },
      { lastNode: 'welcome' },
    ],
    ['doors', { start: 'by_hand' }, { lastNode: 'turned_away' }],
    ['agent-loop', {}, { lastNode: 'done', finalValue: { found: true, value: `${made}/order-4711.txt` } }],
  ])('%s with %j', async (example, ask, expected) => {
    expect(await ran(example, ask)).toMatchObject({ status: 'completed', ...expected })
  })

  it('an agent loop wrote where it may, and not where the policy told it not to', async () => {
    expect(await readFile(`${made}/order-4711.txt`, 'utf8')).toBe('Order 4711 goes to Lyon.')
    await expect(stat('/etc/holdpoint-note.txt')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('approve waits for a person and goes on when it is resumed', async () => {
    const paused = await ran('approve', { input: { amount: 1200 } })
    expect(paused).toMatchObject({
      status: 'paused',
      lastNode: 'ask',
      reason: expect.stringContaining('amount'),
    })
    const resumed = await runOnce({ dataDir, resume: paused.runId, dryRun: false, signal: never })
    expect(resumed).toMatchObject({
      status: 'completed',
      lastNode: 'pay',
      finalValue: { rendered: 'Pay 1200 EUR: approved' },
    })
  })
})

describe('pages, with an MCP server', () => {
  const before = process.env.AGENTD_MCP_STDIO
  beforeAll(() => {
    process.env.AGENTD_MCP_STDIO = `${process.execPath} ${path.join(folder, 'servers/docs-server.mjs')}`
  })
  afterAll(() => {
    if (before === undefined) delete process.env.AGENTD_MCP_STDIO
    else process.env.AGENTD_MCP_STDIO = before
  })

  it.each([
    ['42', { status: 'completed', lastNode: 'done' }],
    ['7', { status: 'failed', lastNode: 'missing' }],
  ])('a comment on page %s', async (page, expected) => {
    const comment = { page_id: page, comment: 'Checked' }
    expect(await ran('pages', { input: { uri: 'docs://pages/42', comment } })).toMatchObject(expected)
  })

  it('no other resource is read', async () => {
    expect(await ran('pages', { input: { uri: 'docs://secrets/1' } })).toMatchObject({
      status: 'errored',
      lastNode: 'page',
      reason: expect.stringMatching(/mcp\.resource denied on docs:\/\/secrets\/1/),
    })
  })
})

describe('post, with an HTTP server', () => {
  let server: Server
  const asked: { method?: string; url?: string; headers: IncomingMessage['headers'] }[] = []
  let hangUps = 0

  beforeAll(async () => {
    process.env.TICKETS_TOKEN = 'hush-hush'
    server = createServer((request, response) => {
      const { method, url, headers } = request
      asked.push({ method, url, headers })
      request.resume()
      if (method === 'GET' && hangUps-- > 0) return request.socket.destroy()
      const isKnown = headers.authorization === 'Bearer hush-hush' || method === 'GET'
      response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isKnown ? { number: 17 } : {}))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(() => {
    asked.length = 0
    process.env.TICKETS_TOKEN = 'hush-hush'
  })
  afterAll(() => {
    delete process.env.TICKETS_TOKEN
    server.closeAllConnections()
    server.close()
  })

  const port = () => (server.address() as AddressInfo).port
  const ask = (place = 'tickets'): Ask => ({
    input: { url: `http://127.0.0.1:${port()}/${place}`, title: 'Optics run hot' },
    instead: ['127.0.0.1:8787', `127.0.0.1:${port()}`],
  })

  it('opens a ticket with the secret in its header, and looks again where nobody answered', async () => {
    hangUps = 1
    expect(await ran('post', ask())).toMatchObject({
      status: 'completed',
      lastNode: 'note',
      finalValue: { rendered: 'Ticket 17 is open.' },
    })
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /tickets',
      'GET /tickets/17',
      'GET /tickets/17',
    ])
    expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer hush-hush', 'x-api-version': '2' })
  })

  it('takes the edge for errors when the answer is no', async () => {
    process.env.TICKETS_TOKEN = 'wrong'
    expect(await ran('post', ask())).toMatchObject({ status: 'failed', lastNode: 'refused' })
  })

  it('names the secret that is missing, and sends nothing', async () => {
    delete process.env.TICKETS_TOKEN
    expect(await ran('post', ask())).toMatchObject({
      status: 'failed',
      lastNode: 'unanswered',
      reason: expect.stringContaining('the secret TICKETS_TOKEN is not set'),
    })
    expect(asked).toEqual([])
  })

  it('is kept from any other address: nothing is sent', async () => {
    expect(await ran('post', ask('admin'))).toMatchObject({ status: 'failed', lastNode: 'unanswered' })
    expect(asked).toEqual([])
  })
})

it('the fixtures pass', async () => {
  const found = await findFixtures([path.join(folder, 'fixtures')])
  const read = await Promise.all(found.map((file) => readFixture(file, path.relative(folder, file))))
  expect(read.flatMap((one) => ('faults' in one ? one.faults : []))).toEqual([])
  const fixtures = read.flatMap((one) => ('fixture' in one ? [one.fixture] : []))
  const failed: string[] = []
  const told = ({ name, passed, differences }: { name: string; passed: boolean; differences: string[] }) => {
    if (!passed) failed.push(`${name}: ${differences.join('; ')}`)
  }
  await runFixtures(fixtures, { signal: never, told })
  expect(failed).toEqual([])
  expect(fixtures.length).toBeGreaterThan(7)
})
