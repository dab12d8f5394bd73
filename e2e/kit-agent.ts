/*
 * An agent on the kit, as a process of its own: `kit-agent.ts ORIGIN PORT FOLDER`. It says when it listens. For each line it
 * reads it begins a run of that name that it alone reports, signed with its key, and says what the console answered.
 */
import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { createRemoteJWKSet } from 'jose'
import { serve } from '../examples/agents/serve'

const [origin = '', port = '0', folder = ''] = process.argv.slice(2)
const { sign } = await serve(
  { id: 'spiffe://elsewhere.example/agent/night-porter', name: 'night-porter', operations: {} },
  { folder, port: Number(port), callers: createRemoteJWKSet(new URL('/.well-known/jwks.json', origin)) },
)
console.log('listens')

for await (const name of createInterface({ input: process.stdin })) {
  const token = await sign({
    aud: 'spiffe://holdpoint.local/holdpoint',
    wid: randomUUID(),
    exec_act: 'atd:workflow_start',
    par: [],
    ext: { 'atd.wf_id': name, 'atd.description': 'Walks the house at night' },
  })
  const headers = { 'execution-context': token }
  const answer = await fetch(new URL('/api/v1/tokens', origin), { method: 'POST', headers })
  console.log(await answer.text())
}
