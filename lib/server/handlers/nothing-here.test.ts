import { expect, it } from 'vitest'
import { routeMethods } from '../http/methods'
import { nothingHere } from './nothing-here'

it('tells a program that there is nothing, whatever the method, and where the list is', async () => {
  for (const method of routeMethods) {
    const response = await nothingHere(new Request('http://localhost/api/v1/nope?x=1', { method }))
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      status: 404,
      index: '/api/v1',
      detail: 'There is nothing at /api/v1/nope; GET /api/v1 lists the addresses there are.',
    })
  }
})
