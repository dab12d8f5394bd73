/* An agent that keeps one note: `npx tsx examples/agents/note-keeper.ts http://localhost:3000/.well-known/jwks.json 4800` */
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { createLocalJWKSet, createRemoteJWKSet } from 'jose'
import { writeDurably } from './disk'
import type { Values } from './kit/answers'
import { type Served, serve } from './serve'

const [jwks = 'http://localhost:3000/.well-known/jwks.json', port = '4800', folder = 'data/note-keeper'] =
  process.argv.slice(2)
const file = path.join(folder, 'note.txt')
const note = () => (existsSync(file) ? readFileSync(file, 'utf8') : null)

const noteKeeper: Served = {
  id: 'spiffe://example.com/agent/note-keeper',
  name: 'note-keeper',
  operations: {
    'write-note': {
      consequence: 'reversible',
      describe: async ({ text }: Values) => ({ sentence: `Writes the note: ${text}`, target: 'the note' }),
      async execute({ text }: Values) {
        await writeDurably(file, `${text}\n`)
        return { output: { characters: `${text}`.length } }
      },
      state: async () => ({ note: note() }),
      restore: ({ note }) => (note === null ? rm(file, { force: true }) : writeDurably(file, `${note}`)),
      tookEffect: async ({ text }) => note() === `${text}\n`,
    },
  },
  reads: { '/note': async () => ({ status: 200, body: { note: note() } }) },
}

const callers = jwks.startsWith('http')
  ? createRemoteJWKSet(new URL(jwks))
  : createLocalJWKSet(JSON.parse(readFileSync(jwks, 'utf8')))
await serve(noteKeeper, { folder, port: Number(port), callers, log: console.log })
