/*
 * An MCP server that misbehaves as its first argument says, for the tests of what happens then. It speaks the wire
 * itself: what it does wrong no SDK would let it do.
 */
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [manner, note] = process.argv.slice(2)
if (note) appendFileSync(note, `${process.pid}\n`)

const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

if (manner === 'rubbish') setInterval(() => process.stdout.write('<html> hello </html>\n'), 1)
if (manner === 'flood') {
  const more = () => {
    while (process.stdout.write('x'.repeat(65_536)));
    process.stdout.once('drain', more)
  }
  more()
}
if (manner === 'exit') process.exit(3)
// A child of its own that left its group and holds its output.
if (manner === 'forks') {
  const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM",()=>{});setInterval(()=>{},1e6)'], {
    detached: true,
    stdio: ['ignore', 'inherit', 'ignore'],
  })
  if (note) appendFileSync(note, `${child.pid}\n`)
  process.on('SIGTERM', () => undefined)
  setInterval(() => undefined, 1e6)
}

const tools = {
  tools: [
    { name: 'echo', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    { name: 'act', inputSchema: { type: 'object' } },
    { name: 'act_twice', inputSchema: { type: 'object' }, annotations: { idempotentHint: true } },
  ],
}

const answers = {
  initialize: () => ({
    protocolVersion: '2025-06-18',
    capabilities: { tools: {}, resources: {} },
    serverInfo: { name: 'rude', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => tools,
  'tools/call': ({ name, arguments: args }) => {
    if (manner === 'dies') process.exit(9)
    if (manner === 'big') return { content: [{ type: 'text', text: 'x'.repeat(100_000_000) }] }
    if (manner === 'wrong') return 7
    if (name === 'echo') {
      return {
        content: [{ type: 'text', text: JSON.stringify({ args, env: process.env, cwd: process.cwd() }) }],
        structuredContent: { pid: process.pid },
      }
    }
    return { content: [{ type: 'text', text: 'done' }] }
  },
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined || ['rubbish', 'flood', 'mute'].includes(manner)) return
  if (manner === 'deaf' && method !== 'initialize' && method !== 'tools/list') return
  if (manner === 'deep' && method === 'tools/call') {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":${deep}}}\n`)
    return
  }
  const answer = answers[method]
  if (answer) say({ id, result: answer(params ?? {}) })
  else say({ id, error: { code: -32601, message: 'no such method' } })
})
