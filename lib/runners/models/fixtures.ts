import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach } from 'vitest'
import type { JsonObject } from '@/lib/base/json'

interface Seen {
  path: string
  headers: IncomingMessage['headers']
  body: JsonObject
}

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A model server on loopback that answers as told, and notes what it was asked. */
export async function modelServer(answer: (response: ServerResponse, seen: Seen) => void) {
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      seen.push({
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as JsonObject),
      })
      answer(response, seen.at(-1) as Seen)
    })
  })
  await listening(server, 0)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

async function listening(server: Server, at: number | string) {
  await new Promise<void>((resolve) => {
    if (typeof at === 'number') server.listen(at, '127.0.0.1', resolve)
    else server.listen(at, resolve)
  })
  closers.push(() => {
    server.closeAllConnections?.()
    return new Promise((resolve) => server.close(resolve))
  })
}

/** Answers with this value. */
export const json = (value: unknown) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

/** agentd's protocol on a Unix socket; gives the socket's path. */
export async function socketServer(answer: (request: JsonObject) => Buffer | undefined) {
  const folder = await mkdtemp(path.join(tmpdir(), 'hp-intel-'))
  closers.push(() => rm(folder, { recursive: true }))
  const server = createSocketServer((socket) => {
    let held = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      if (held.byteLength < 4 || held.byteLength < held.readUInt32LE(0) + 4) return
      const sent = answer(JSON.parse(held.subarray(4).toString('utf8')) as JsonObject)
      if (sent) socket.write(sent)
    })
    closers.push(() => void socket.destroy())
  })
  const at = path.join(folder, 'intel.sock')
  await listening(server as unknown as Server, at)
  return at
}

/** A frame as agentd's protocol has it. */
export function frame(value: unknown): Buffer {
  const payload = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(payload.byteLength)
  return Buffer.concat([length, payload])
}
