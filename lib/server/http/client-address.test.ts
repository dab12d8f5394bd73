import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addressHeader, addressOf, stampAddress, stampAddresses } from './client-address'

let server: http.Server
let origin: string
beforeAll(async () => {
  const claimed = new Request('http://h/', { headers: { [addressHeader]: '203.0.113.1' } })
  expect(addressOf(claimed)).toBe('unknown')
  stampAddresses(0)
  server = http.createServer((request, response) => response.end(request.headers[addressHeader]))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

it('stamps the peer over whatever the client claims', async () => {
  const headers = { [addressHeader]: '203.0.113.1', 'x-forwarded-for': '203.0.113.2' }
  expect(await (await fetch(origin, { headers })).text()).toBe('127.0.0.1')
})

it('believes as many hops as there are proxies of one’s own', () => {
  const stamped = (proxies: number, hops: string) => {
    const request = { headers: { 'x-forwarded-for': hops }, socket: { remoteAddress: '10.0.0.1' } }
    stampAddress(request as unknown as http.IncomingMessage, proxies)
    return (request.headers as Record<string, string>)[addressHeader]
  }
  expect(stamped(1, 'forged, 198.51.100.7')).toBe('198.51.100.7')
  expect(stamped(2, 'forged, 198.51.100.7, 10.0.0.2')).toBe('198.51.100.7')
  expect(stamped(1, '')).toBe('10.0.0.1')
})

it('says so when a request was not stamped', () => {
  expect(addressOf(new Request('http://h/'))).toBe('unknown')
})
