import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { apiLinks } from '../handlers/index-of-api'
import { nothingHere } from '../handlers/nothing-here'
import { methods, routeMethods } from './methods'
import { json, type RouteContext } from './route'

const context: RouteContext = { params: Promise.resolve({}) }
const request = (method: string, address = '/api/v1/things?x=1') =>
  new Request(`http://localhost${address}`, { method })

describe('an address', () => {
  const answer = async ({ method }: Request) => json({ by: method })
  const answered = methods({ GET: answer, DELETE: answer })

  it('answers the methods it knows, and HEAD as GET', async () => {
    expect(await (await answered.GET(request('GET'), context)).json()).toEqual({ by: 'GET' })
    expect(await (await answered.DELETE(request('DELETE'), context)).json()).toEqual({ by: 'DELETE' })
    expect((await answered.HEAD(request('HEAD'), context)).status).toBe(200)
  })

  it('tells any other method which ones it takes', async () => {
    for (const method of ['POST', 'PUT', 'PATCH'] as const) {
      const response = await answered[method](request(method), context)
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET, HEAD, DELETE, OPTIONS')
      expect(response.headers.get('content-type')).toBe('application/problem+json')
      expect(await response.json()).toMatchObject({
        status: 405,
        code: 'method_not_allowed',
        detail: `/api/v1/things takes no ${method}; it takes GET, HEAD, DELETE, OPTIONS.`,
      })
    }
    const writes = methods({ POST: answer })
    expect((await writes.HEAD(request('HEAD'), context)).headers.get('allow')).toBe('POST, OPTIONS')
  })

  it('says to OPTIONS what it takes', async () => {
    const response = await answered.OPTIONS(request('OPTIONS'), context)
    expect(response.status).toBe(204)
    expect(response.headers.get('allow')).toBe('GET, HEAD, DELETE, OPTIONS')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })
})

const app = path.resolve(import.meta.dirname, '../../../app')
const routes = readdirSync(app, { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'route.ts')
  .map((file) => `/${path.dirname(file)}`)

describe('every route', () => {
  it.each(routes)('%s answers every method', async (address) => {
    const handlers = (await import(path.join(app, address, 'route.ts'))) as ReturnType<typeof methods>
    if (handlers.GET === nothingHere) {
      for (const method of routeMethods) expect(handlers[method]).toBe(nothingHere)
      return
    }
    const allow = (await handlers.OPTIONS(request('OPTIONS'), context)).headers.get('allow')?.split(', ')
    expect(allow?.length).toBeGreaterThan(1)
    for (const method of routeMethods.filter((method) => !allow?.includes(method))) {
      const response = await handlers[method](request(method), context)
      expect(await response.json()).toMatchObject({ code: 'method_not_allowed', allow: allow?.join(', ') })
    }
  })

  it('of a collection is in the index, and what the index names is there', () => {
    const collections = routes.filter((address) => /^\/api\/v1\/[^/[]+$/.test(address))
    expect(Object.values(apiLinks)).toEqual(expect.arrayContaining(collections))
    expect(routes).toEqual(expect.arrayContaining(Object.values(apiLinks)))
  })
})
