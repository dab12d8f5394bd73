import { expect, it } from 'vitest'
import { nothingHere } from './nothing-here'

it('tells a program that there is nothing, whatever the method', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const response = nothingHere(new Request('http://localhost/api/v1/nope?x=1', { method }))
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      status: 404,
      detail: expect.stringMatching(/^There is nothing at \/api\/v1\/nope; /),
    })
  }
})
