import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { api, isRefusal } from './api'

/*
 * Against a server that answers, refuses, breaks off or hangs up. The browser completes `/api/v1/…` by the page's own
 * address; here a thin fetch does.
 */
let server: Server

beforeAll(async () => {
  server = createServer((request, response) => {
    const way = request.url?.split('/').at(-1)
    if (way === 'hangs-up') return request.socket.destroy()
    const status = way === 'refuses' ? 409 : way === 'fails' ? 500 : 200
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '40' })
    if (way === 'breaks-off') return response.write('{"id":', () => request.socket.destroy())
    return response.end(JSON.stringify({ code: 'some_code', detail: 'Said so.' }).padEnd(40))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const real = globalThis.fetch
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => real(`http://127.0.0.1:${port}${path}`, init))
})

afterAll(() => {
  vi.unstubAllGlobals()
  server.close()
})

const failureOf = (way: string, method: 'GET' | 'POST', onlyAsks = false) =>
  api(`/${way}`, { method, onlyAsks }).then(
    () => undefined,
    (error: unknown) => error,
  )

describe('what a failed request lets a screen say', () => {
  it.each(['breaks-off', 'hangs-up'])('a write to a server that %s is of unknown outcome', async (way) => {
    const error = await failureOf(way, 'POST')
    expect(error).toMatchObject({
      code: 'answer_lost',
      message: 'Holdpoint did not finish its answer; whether it was done is not known yet.',
    })
    expect(isRefusal(error)).toBe(false)
  })

  it.each(['breaks-off', 'hangs-up'])('a question to a server that %s may be asked again', async (way) => {
    expect(await failureOf(way, 'GET')).toMatchObject({ code: 'offline' })
    expect(await failureOf(way, 'POST', true)).toMatchObject({ code: 'offline' })
  })

  it('a refusal says what was surely not done; a fault of the server does not', async () => {
    const refused = await failureOf('refuses', 'POST')
    expect(refused).toMatchObject({ code: 'some_code', status: 409, message: 'Said so.' })
    expect(isRefusal(refused)).toBe(true)
    expect(isRefusal(await failureOf('fails', 'POST'))).toBe(false)
  })

  it('a good answer is told with its status', async () => {
    const told: number[] = []
    await api('/answers', { method: 'POST', onStatus: (status) => told.push(status) })
    expect(told).toEqual([200])
  })
})
