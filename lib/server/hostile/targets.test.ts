/** Addresses that want in: every spelling of a private target, and every way to be sent to one. Nothing is sent. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { edge, node, Scene, workflow } from './scene'

let scene: Scene
let asked: string[]
let url: string
let port: string
beforeEach(async () => {
  scene = await Scene.open()
  asked = []
  url = await scene.server((request, response) => {
    asked.push(request.url ?? '')
    if (request.url?.startsWith('/to?')) {
      response.writeHead(302, { location: decodeURIComponent(request.url.slice(4)) })
      return response.end('moved')
    }
    response.end('inside')
  })
  port = new URL(url).port
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

const getting = workflow('go', node('go', 'http_request', 'method = "GET"', 'url_from = "trigger.url"'))
const under = (...urls: string[]) => `${getting}[policy.http]\nurls = ${JSON.stringify(urls)}\n`

const privates = (at: string): string[] => [
  `http://127.0.0.1:${at}/`,
  `http://localhost:${at}/`,
  `http://LOCALHOST.:${at}/`,
  `http://x.localhost:${at}/`,
  `http://127.1:${at}/`,
  `http://2130706433:${at}/`,
  `http://0x7f000001:${at}/`,
  `http://0x7f.0.0.1:${at}/`,
  `http://0177.0.0.1:${at}/`,
  `http://017700000001:${at}/`,
  `http://127.0.0.1.:${at}/`,
  `http://127.0.0.01:${at}/`,
  `http://①②⑦.⓪.⓪.①:${at}/`,
  `http://127。0。0。1:${at}/`,
  `http://%31%32%37.0.0.1:${at}/`,
  `http://127%2e0%2e0%2e1:${at}/`,
  `http://[::1]:${at}/`,
  `http://[::ffff:127.0.0.1]:${at}/`,
  `http://[::ffff:7f00:1]:${at}/`,
  `http://[::127.0.0.1]:${at}/`,
  `http://[64:ff9b::7f00:1]:${at}/`,
  `http://[2002:7f00:1::]:${at}/`,
  `http://[fe80::1]:${at}/`,
  `http://[fc00::1]:${at}/`,
  `http://0.0.0.0:${at}/`,
  `http://0:${at}/`,
  `http://[::]:${at}/`,
  `http://10.0.0.1:${at}/`,
  `http://192.168.0.1:${at}/`,
  `http://172.16.0.1:${at}/`,
  `http://100.64.0.1:${at}/`,
  `http://169.254.169.254:${at}/latest/meta-data`,
  `http://224.0.0.1:${at}/`,
  `http://255.255.255.255:${at}/`,
  `http:\\\\127.0.0.1:${at}\\`,
  `http:127.0.0.1:${at}/`,
  `http:///127.0.0.1:${at}/`,
  `http://example.com@127.0.0.1:${at}/`,
  `http://example.com:x@127.0.0.1:${at}/`,
  `http://127.0.0.1:${at}#@example.com/`,
  `http://127.0.0.1:${at}\\@example.com/`,
]

const noHttp = [
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'gopher://127.0.0.1:70/_',
  'data:text/plain,x',
  'javascript:1',
  '//127.0.0.1/',
  '/etc/passwd',
  'http://',
  'http://a b/',
  'http://127.0.0.1\r\nX: y/',
  'http://exa\tmple.com/',
  'http://example.com:99999/',
  '',
]

describe('a request', () => {
  it('reaches no private address, however it is spelled', async () => {
    for (const target of privates(port)) {
      for (const text of [getting, under('*')]) {
        const outcome = await scene.served(text, { input: { url: target } })
        expect({ target, status: outcome.status }).toEqual({ target, status: 'errored' })
        expect(outcome.reason).toMatch(/denied on|The URL /)
        expect(outcome.reason).not.toContain('inside')
      }
    }
    expect(asked).toEqual([])
  })

  it('goes by http or https, to a URL that is one', async () => {
    for (const target of noHttp) {
      const outcome = await scene.served(getting, { input: { url: target } })
      expect({ target, status: outcome.status }).toEqual({ target, status: 'errored' })
      expect(outcome.reason).not.toMatch(/[\r\n]/)
    }
  })

  it('to a name that leads to a private address is refused by the address', async () => {
    // The machine's own name is in its hosts file or resolves to one of its interfaces.
    const { hostname } = await import('node:os')
    for (const name of [hostname(), 'ip6-localhost', 'localhost.localdomain']) {
      const outcome = await scene.served(under('*'), { input: { url: `http://${name}:${port}/` } })
      expect({ name, status: outcome.status }).toEqual({ name, status: 'errored' })
      expect(outcome.reason).toMatch(/denied on|could not be resolved/)
    }
    expect(asked).toEqual([])
  })

  it('follows no redirect: a 302 is an answer', async () => {
    const other = await scene.server((_request, response) => {
      asked.push('OTHER')
      response.end()
    })
    for (const location of [other, 'http://169.254.169.254/', 'file:///etc/passwd']) {
      const outcome = await scene.served(under(`${url}/**`), {
        input: { url: `${url}/to?${encodeURIComponent(location)}` },
      })
      expect(outcome).toMatchObject({ status: 'completed', finalValue: { status: 302, body: 'moved' } })
    }
    expect(asked).not.toContain('OTHER')
    expect(asked).toHaveLength(3)
  })

  it('under a policy goes nowhere that only looks allowed', async () => {
    const allowed = `127.0.0.1:${port}`
    const text = under(`http://${allowed}/v1/**`)
    const denied = [
      `http://${allowed}@evil.example/v1/x`,
      `http://${allowed}.evil.example/v1/x`,
      `http://evil.example/?http://${allowed}/v1/x`,
      `http://evil.example/#http://${allowed}/v1/x`,
      `http://evil.example\\@${allowed}/v1/x`,
      `http://user:pass@${allowed}/v1/x`,
      `https://${allowed}/v1/x`,
      `http://${allowed}/v10/x`,
      `http://${allowed}/v1/../admin`,
      `http://${allowed}/v1/%2e%2e/admin`,
      `http://${allowed}/v1/..%2fadmin`,
      `http://${allowed}/v1/..%5cadmin`,
      `http://${allowed}/v1\\..\\admin`,
      `http://${allowed}/v1/%252e%252e/admin`,
      `http://${allowed}/v1/..;/admin`,
      `http://${allowed}/v1/%c0%ae%c0%ae/admin`,
      `http://127.0.0.1:${Number(port) + 1}/v1/x`,
      `http://localhost:${port}/v1/x`,
      `http://[::1]:${port}/v1/x`,
    ]
    for (const target of denied) {
      const outcome = await scene.served(text, { input: { url: target } })
      expect({ target, status: outcome.status }).toEqual({ target, status: 'errored' })
      expect(outcome.reason).toMatch(/http\.request denied on|The URL /)
      expect(outcome.reason).not.toContain('pass@')
    }
    expect(asked).toEqual([])
    const same = [`http://${allowed}/v1/x`, `HTTP://0x7f.1:${port}/v1/y`, `http://2130706433:${port}/v1/%7ez`]
    for (const target of same) {
      expect(await scene.served(text, { input: { url: target } })).toMatchObject({ status: 'completed' })
    }
    expect(asked).toEqual(['/v1/x', '/v1/y', '/v1/%7ez'])
  })

  it('cannot be talked into a private address by an answer', async () => {
    const chain = workflow(
      'ask',
      [
        node('ask', 'http_request', 'method = "GET"', 'url_from = "trigger.url"'),
        node('next', 'http_request', 'method = "GET"', 'url_from = "ask.headers.location"'),
        node('follow', 'merge'),
        edge('ask', 'follow'),
        edge('ask', 'follow', 'when = "error"'),
        edge('follow', 'next'),
        `[policy.http]\nurls = ["${url}/to*", "${url}/to", "${url}/**"]\n`,
      ].join(''),
    )
    const outcome = await scene.served(chain, {
      input: { url: `${url}/to?${encodeURIComponent('http://169.254.169.254/latest')}` },
    })
    expect(outcome).toMatchObject({ status: 'errored', lastNode: 'next' })
    expect(outcome.reason).toContain('http.request denied on GET http://169.254.169.254/latest')
  })

  it('whose answer never ends is given up at the bound', async () => {
    const endless = await scene.server((_request, response) => {
      response.on('error', () => undefined)
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    const outcome = await scene.served(under(`${endless}/**`), { input: { url: `${endless}/` } })
    expect(outcome.status).toBe('errored')
    expect(outcome.reason).toContain('more than 1,048,576 bytes')
  })
})
