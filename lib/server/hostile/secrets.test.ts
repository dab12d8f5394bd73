/** Secrets go into the request they are for, and stand nowhere afterwards: no token, no value, no log, no error, no bundle. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { canonicalJson } from '@/lib/base/canonical-json'
import { gather } from '../bundle/gather'
import { planBundle } from '../bundle/write-bundle'
import { bodyOf, edge, node, Scene, workflow } from './scene'

const headerSecret = 'hdr-hunter2-é"b'
const keySecret = 'sk-model-hunter2'
const fileSecret = 'file-hunter2-secret'
const envSecret = 'env-hunter2-secret'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
  scene.variable('HOSTILE_HEADER', headerSecret)
  scene.variable('HOSTILE_KEY', keySecret)
  scene.variable('HOSTILE_READ', envSecret)
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

/** Every file below a folder, but the folders named. */
function filesBelow(folder: string, but: string[] = []): string[] {
  return readdirSync(folder).flatMap((name) => {
    const at = path.join(folder, name)
    if (but.includes(name)) return []
    return statSync(at).isDirectory() ? filesBelow(at) : [at]
  })
}

/** Which of the secrets the bytes hold, as they are, in UTF-8, in base64 or percent-encoded. */
function heldBy(bytes: Buffer, secrets: string[]): string[] {
  const spellings = (secret: string) => [
    Buffer.from(secret),
    Buffer.from(secret, 'latin1'),
    Buffer.from(JSON.stringify(secret).slice(1, -1)),
    Buffer.from(encodeURIComponent(secret)),
    Buffer.from(Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1)),
    Buffer.from(Buffer.from(`"${secret}"`).toString('base64url').slice(4, -4)),
  ]
  return secrets.filter((secret) => spellings(secret).some((spelling) => bytes.includes(spelling)))
}

const declared = `
[[secrets]]
name = "HEADER"
source = "env"
var = "HOSTILE_HEADER"

[[secrets]]
name = "FILE"
source = "file"
path = "secret.txt"
`

describe('a run with secrets', () => {
  it('leaves none of them anywhere, whether its requests fail or repeat what they were sent', async () => {
    await scene.file('authored/secret.txt', `${fileSecret}\n`)
    const seen: string[] = []
    const echo = await scene.server((request, response) => {
      void bodyOf(request).then((body) => {
        const { 'x-one': one, 'x-two': two, authorization } = request.headers
        seen.push(Buffer.from(String(one ?? authorization), 'latin1').toString('latin1'), String(two))
        if (request.url === '/broken') return request.socket.destroy()
        // A model server that tells what it was sent, as some proxies do in their errors.
        if (request.url?.startsWith('/model')) {
          response.writeHead(401, { 'content-type': 'application/json', 'x-echo': String(authorization) })
          return response.end(
            JSON.stringify({ error: { message: `bad key ${authorization}`, code: authorization } }),
          )
        }
        response.writeHead(request.url === '/fails' ? 500 : 200, {
          'x-echo': String(one),
          'set-cookie': `k=${two}`,
        })
        response.end(
          JSON.stringify({
            headers: request.headers,
            raw: request.rawHeaders,
            body,
            two: encodeURIComponent(String(two)),
          }),
        )
      })
    })
    const headers = '[nodes.headers]\nX-One = "Bearer {{secret:HEADER}}"\nX-Two = "{{secret:FILE}}"'
    const request = (id: string, place: string, method = 'POST') =>
      node(`${id}_to`, 'template_render', `template = "${echo}${place}"`, 'input_from = "trigger"') +
      node(id, 'http_request', `method = "${method}"`, `url_from = "${id}_to.rendered"`, headers)
    const steps = ['echoed', 'failing', 'broken', 'model', 'variable']
    const text =
      workflow(
        'echoed_to',
        [
          request('echoed', '/echo?x=1'),
          request('failing', '/fails'),
          request('broken', '/broken', 'GET'),
          node('model', 'llm_infer', 'backend = "m"', 'prompt = "x"'),
          node('variable', 'read_env', 'key = "HOSTILE_READ"'),
          edge('echoed_to', 'echoed'),
          edge('echoed', 'failing_to'),
          edge('failing_to', 'failing'),
          edge('failing', 'broken_to', 'when = "error"'),
          edge('broken_to', 'broken'),
          edge('broken', 'model', 'when = "error"'),
          edge('model', 'variable', 'when = "error"'),
        ].join(''),
      ) +
      declared +
      `[[intelligence.backends]]\nname = "m"\nprovider = "openai-compatible"\nmodel = "x"\nbase_url = "${echo}/model"\napi_key_env = "HOSTILE_KEY"\n` +
      `[policy.http]\nurls = ["${echo}/**"]\n[policy.env]\nread_keys = ["HOSTILE_READ"]\n`
    ;(await scene.house()).log.trace('The log is kept')
    const outcome = await scene.served(text)
    expect(outcome).toMatchObject({ status: 'completed', lastNode: 'variable' })
    expect(seen.some((value) => value.includes('hunter2'))).toBe(true)
    expect(seen).toContain(fileSecret)
    expect(seen.some((value) => value.includes(keySecret))).toBe(true)
    expect(steps).toHaveLength(5)

    const secrets = [headerSecret, fileSecret, keySecret]
    const house = await scene.house()
    const rows = await house.store.ledger.rows(outcome.runId, 0, 1_000)
    const payloads = rows.map(({ token }) =>
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'),
    )
    expect(rows.length).toBeGreaterThan(20)
    // A variable that the author asked for is a value of the run; it is in no token and in no log all the same.
    expect(heldBy(Buffer.from(payloads.join('\n')), [...secrets, envSecret])).toEqual([])
    expect(scene.log).toContain('The log is kept')
    expect(heldBy(Buffer.from(scene.log), [...secrets, envSecret])).toEqual([])
    expect(heldBy(Buffer.from(canonicalJson({ ...outcome, lastNode: '' })), secrets)).toEqual([])
    for (const file of filesBelow(scene.dataDir)) {
      expect({ file, held: heldBy(readFileSync(file), secrets) }).toEqual({ file, held: [] })
    }
    const { store, keys } = house
    const gathered = await gather(outcome.runId, { store, keys: keys.jwks() })
    const chunks: Uint8Array[] = []
    for await (const chunk of (await planBundle(gathered, store.ledger, keys.current)).stream())
      chunks.push(chunk)
    expect(chunks.length).toBeGreaterThan(0)
    // The variable shows that what is looked through can be read.
    expect(heldBy(Buffer.concat(chunks), [...secrets, envSecret])).toEqual([envSecret])
  })

  it.each(['a\r\nX-Admin: 1', 'a\nb', 'a\0b', 'a\rb'])(
    'does not send a header that %j would break',
    async (value) => {
      scene.variable('HOSTILE_HEADER', value.includes('\0') ? 'x' : value)
      await scene.file('authored/secret.txt', value)
      let asked = 0
      const url = await scene.server((_request, response) => {
        asked += 1
        response.end()
      })
      const name = value.includes('\0') ? 'FILE' : 'HEADER'
      const text =
        workflow(
          'go',
          node(
            'go',
            'http_request',
            'method = "GET"',
            'url_from = "trigger.url"',
            `[nodes.headers]\nX-One = "{{secret:${name}}}"`,
          ),
        ) +
        declared +
        `[policy.http]\nurls = ["${url}/**"]\n`
      const outcome = await scene.served(text, { input: { url: `${url}/` } })
      expect(outcome.status).toBe('errored')
      expect(outcome.reason).toContain('It comes from a secret; nothing was sent.')
      expect(outcome.reason).not.toMatch(/X-Admin|[\r\n\0]/)
      expect(asked).toBe(0)
    },
  )

  it('names a secret that is not there, and sends nothing', async () => {
    const text =
      workflow(
        'go',
        node(
          'go',
          'http_request',
          'method = "GET"',
          'url_from = "trigger.url"',
          '[nodes.headers]\nX-One = "{{secret:FILE}}"',
        ),
      ) + declared
    const outcome = await scene.alone(text, { input: { url: 'http://127.0.0.1:9/' } })
    expect(outcome).toMatchObject({ status: 'errored' })
    expect(outcome.reason).toContain('needs the secret "FILE"')
  })

  it('finds none in the variables of the installation itself', async () => {
    scene.variable('HOLDPOINT_SECRET_KEY', 'house-hunter2')
    const text = `${workflow(
      'go',
      node(
        'go',
        'http_request',
        'method = "GET"',
        'url_from = "trigger.url"',
        '[nodes.headers]\nX-One = "{{secret:HOUSE}}"',
      ),
    )}[[secrets]]\nname = "HOUSE"\nsource = "env"\nvar = "HOLDPOINT_SECRET_KEY"\n`
    const outcome = await scene.served(text, { input: { url: 'https://example.com/' } })
    expect(outcome).toMatchObject({ status: 'errored' })
    expect(outcome.reason).toContain('needs the secret "HOUSE"')
    const read = workflow('go', node('go', 'read_env', 'key = "HOLDPOINT_SECRET_KEY"'))
    for (const way of ['served', 'alone'] as const) {
      const denied = await scene[way](`${read}[policy.env]\nread_keys = ["*"]\n`)
      expect(denied.reason).toContain('env.read denied on HOLDPOINT_SECRET_KEY')
      expect(JSON.stringify(denied)).not.toContain('house-hunter2')
    }
  })
})

describe('the keys of the installation', () => {
  it('are readable by their owner alone', async () => {
    await scene.house()
    const keys = path.join(scene.dataDir, 'keys')
    expect(existsSync(keys)).toBe(true)
    for (const file of filesBelow(keys)) expect((statSync(file).mode & 0o077).toString(8)).toBe('0')
  })
})
