/* The API as programs meet it, over real HTTP: refusals, pages, repeated writes, tokens, and what strangers try. */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { RunRow } from '@/lib/view/run-wire'
import type { Page as Paged, ProblemDetails } from '@/lib/view/wire'
import type { Validation } from '@/lib/view/workflow-wire'
import { type Answer, Api } from './api'
import { freePorts, root } from './house'
import { expect, makeApiToken, test } from './test'

const atd = { 'content-type': 'application/atd-workflow+json' }

/** A refusal, by status, code and a part of its sentence. */
function refused(answer: Answer<unknown>, status: number, code: string, sentence: string | RegExp): void {
  expect(answer.body).toMatchObject({ status, code, type: `urn:holdpoint:problem:${code}` })
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect((answer.body as ProblemDetails).detail).toMatch(sentence)
}

test.describe('refusals', () => {
  test('are problem details with a code, a sentence and the status they travel with', async ({
    api,
    house,
  }) => {
    refused(
      await api.get('/api/v1/runs/run_00000000000000000000000000000000'),
      404,
      'not_found',
      /No run is known/,
    )
    refused(await new Api(house.origin).get('/api/v1/runs'), 401, 'not_signed_in', /send an API token/)
    refused(
      await api.send('POST', '/api/v1/runs', '{"workflow":', { 'content-type': 'application/json' }),
      400,
      'body_not_json',
      /is not JSON/,
    )
    refused(
      await api.send('POST', '/api/v1/runs', '{}', { 'content-type': 'text/html' }),
      415,
      'unsupported_media_type',
      /text\/html/,
    )
    refused(
      await api.post('/api/v1/runs', { workflow: 'quick-check', colour: 'red' }),
      400,
      'bad_request',
      /colour/,
    )
    refused(await api.post('/api/v1/runs', { workflow: 'no-such-thing' }), 404, 'not_found', /no-such-thing/)
    refused(
      await api.post('/api/v1/runs', { workflow: 'config-note', input: { path: '../x' } }),
      422,
      'input_invalid',
      /./,
    )
  })

  test('an address that is none says so too, and where the list is', async ({ api, house }) => {
    for (const address of [
      '/api/v1/nothing-here',
      '/api/v1/runs/x/y/z',
      '/api',
      '/.well-known/atd/nothing',
      '/aerr/nothing',
    ]) {
      for (const method of ['GET', 'POST', 'DELETE']) {
        refused(await api.send(method, address, undefined), 404, 'not_found', /GET \/api\/v1 lists/)
      }
    }
    const index = await new Api(house.origin).get<{ name: string; links: Record<string, string> }>('/api/v1')
    expect(index).toMatchObject({
      status: 200,
      body: { name: 'Holdpoint', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
    })
    for (const address of Object.values(index.body.links)) {
      expect((await api.send('OPTIONS', address, undefined)).status, address).toBe(204)
    }
  })

  test('a method an address does not take is told which ones it takes', async ({ api }) => {
    for (const [method, address, allow] of [
      ['PUT', '/api/v1/runs', 'GET, HEAD, POST, OPTIONS'],
      ['DELETE', '/api/v1', 'GET, HEAD, OPTIONS'],
      ['GET', '/.well-known/atd/rollback', 'POST, OPTIONS'],
    ] as const) {
      const answer = await api.send(method, address, undefined)
      refused(answer, 405, 'method_not_allowed', `it takes ${allow}.`)
      expect(answer.headers.get('allow')).toBe(allow)
    }
  })
})

test('a page of what is not there says so inside the console, with the way to the list', async ({ page }) => {
  await page.setViewportSize({ width: 375, height: 667 })
  const nothing = `run_${'0'.repeat(32)}`
  for (const [address, words, list] of [
    [`/runs/${nothing}`, `There is no run ${nothing}`, 'See all runs'],
    [`/runs/${nothing}/rollback?node=a`, `There is no run ${nothing}`, 'See all runs'],
    ['/runs/no%20id', 'There is no run no id', 'See all runs'],
    ['/workflows/gone', 'There is no workflow version gone', 'See all workflows'],
    ['/workflows/gone/run', 'There is no workflow version gone', 'See all workflows'],
    ['/approvals?item=appr_gone', 'There is no approval appr_gone', 'See what waits for a decision'],
    ['/nowhere/at/all', 'There is no page at this address', 'Open the overview'],
  ] as const) {
    expect((await page.goto(address))?.status(), address).toBe(404)
    await expect(page.getByRole('heading', { name: words })).toBeVisible()
    await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
    await expect(page.getByRole('main').getByRole('link', { name: list })).toBeVisible()
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375)
  }
  await page.goto(`/runs/${nothing}`)
  await page.getByRole('link', { name: 'See all runs' }).click()
  await expect(page).toHaveURL(/\/runs$/)
  await expect(page.getByRole('row').first()).toBeVisible()
})

test('lists come in pages that neither repeat nor leave out, newest first', async ({ api }) => {
  const started: string[] = []
  for (let at = 0; at < 7; at++) started.push(await api.startRun('quick-check'))
  const seen: string[] = []
  let next: string | undefined
  do {
    const query: string = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`
    const page = await api.must(api.get<Paged<RunRow>>(`/api/v1/runs?workflow=quick-check&limit=3${query}`))
    expect(page.items.length).toBeLessThanOrEqual(3)
    seen.push(...page.items.map(({ id }) => id))
    next = page.next
  } while (next !== undefined)
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.slice(0, 7)).toEqual([...started].reverse())
  refused(
    await api.get('/api/v1/runs?cursor=garbage'),
    400,
    'cursor_invalid',
    /was not given out by this list/,
  )
  refused(await api.get('/api/v1/runs?limit=100000'), 400, 'bad_request', /from 1 to 200/)
  refused(await api.get('/api/v1/runs?limit=1&limit=2'), 400, 'bad_request', /twice/)
})

test('a write that is sent again is done once, and answered the same', async ({ api }) => {
  const key = { 'idempotency-key': 'same-1' }
  const body = { workflow: 'quick-check' }
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => api.post<{ id: string }>('/api/v1/runs', body, key)),
  )
  const later = await api.post<{ id: string }>('/api/v1/runs', body, key)
  expect(new Set([...answers, later].map((answer) => answer.body.id)).size).toBe(1)
  expect(later.headers.get('idempotent-replayed')).toBe('true')
  expect(later.status).toBe(201)
  refused(
    await api.post('/api/v1/runs', { workflow: 'config-note' }, key),
    409,
    'idempotency_key_reused',
    /use a new key/,
  )
})

test.describe('deciding', () => {
  test('a GET never decides, whatever it is sent', async ({ api, page, house }) => {
    const question = await heldNote(api, 'get')
    const address = `/api/v1/approvals/${question.id}/decision`
    for (const method of ['GET', 'HEAD']) {
      const query = `?verdict=approve&action=${question.action}`
      expect((await page.request.fetch(address + query, { method })).status()).toBe(405)
      expect((await api.send(method, address + query, undefined)).status).toBe(405)
    }
    for (const path of [`/approvals?item=${question.id}`, `/api/v1/approvals/${question.id}`]) {
      await page.request.get(`${house.origin}${path}`)
    }
    expect((await api.approval(question.id)).state).toBe('open')
  })

  test('a page of another site cannot, though the browser sends the cookies along', async ({
    api,
    page,
    house,
  }) => {
    const question = await heldNote(api, 'cross-site')
    const address = `${house.origin}/api/v1/approvals/${question.id}/decision`
    const data = { verdict: 'approve', action: question.action }
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: house.origin.replace('localhost', 'localhost.evil.example') },
      { origin: house.origin, 'sec-fetch-site': 'cross-site' },
      { origin: house.origin, 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
      {},
    ]) {
      const answer = await page.request.post(address, { headers: headers as Record<string, string>, data })
      expect(answer.status(), JSON.stringify(headers)).toBe(403)
      expect(await answer.json()).toMatchObject({ code: 'cross_site' })
    }
    expect((await api.approval(question.id)).state).toBe('open')
  })

  test('a decision on another action, twice, or on a run that moved on changes nothing', async ({ api }) => {
    const question = await heldNote(api, 'stale-digest')
    const decide = (verdict: string, action = question.action) =>
      api.post(`/api/v1/approvals/${question.id}/decision`, { verdict, action })
    refused(await decide('approve', 'A'.repeat(43)), 409, 'approval_digest', /./)
    expect((await decide('refuse')).status).toBe(200)
    refused(await decide('approve'), 409, 'approval_decided', /ada/)

    const gone = await heldNote(api, 'gone')
    expect((await api.post(`/api/v1/runs/${gone.run}/cancel`, { reason: 'Not today' })).status).toBe(200)
    await expect.poll(async () => (await api.run(gone.run)).row.status).toBe('ended')
    expect((await api.run(gone.run)).row).toMatchObject({ terminal: 'failed', stopped: 'cancelled' })
    const found = async (status: string) =>
      (await api.must(api.get<Paged<RunRow>>(`/api/v1/runs?status=${status}&limit=50`))).items.map(
        ({ id }) => id,
      )
    expect(await found('cancelled')).toContain(gone.run)
    expect(await found('failed')).not.toContain(gone.run)
    const late = await api.post<ProblemDetails>(`/api/v1/approvals/${gone.id}/decision`, {
      verdict: 'approve',
      action: gone.action,
    })
    expect(late.status).toBe(409)
    expect(['approval_gone', 'run_ended']).toContain(late.body.code)
  })
})

test.describe('API tokens', () => {
  test('do what their scopes name and nothing else', async ({ api, page, house }) => {
    const reader = new Api(
      house.origin,
      await makeApiToken(page.context(), house, { name: 'reader', scopes: ['runs:read'] }),
    )
    expect((await reader.get('/api/v1/runs')).status).toBe(200)
    refused(
      await reader.post('/api/v1/runs', { workflow: 'quick-check' }),
      403,
      'scope_missing',
      /runs:write/,
    )
    refused(await reader.get('/api/v1/tasks'), 403, 'scope_missing', /tasks:work/)
    const question = await heldNote(api, 'scopes')
    refused(
      await reader.post(`/api/v1/approvals/${question.id}/decision`, {
        verdict: 'approve',
        action: question.action,
      }),
      403,
      'scope_missing',
      /approvals:decide/,
    )
    refused(
      await new Api(house.origin, `hp_${'A'.repeat(43)}`).get('/api/v1/runs'),
      401,
      'token_invalid',
      /./,
    )
    // With a token of one's own one reports what agents signed; another token is made by nobody but who is signed in.
    const more = { name: 'more', scopes: ['runs:read'] }
    refused(await reader.post('/api/v1/tokens', more), 403, 'scope_missing', /tokens:report/)
    expect((await api.post('/api/v1/tokens', more)).status).toBe(400)
  })

  test('are shown once and sent nowhere else', async ({ page, house }) => {
    const token = await makeApiToken(page.context(), house, { name: 'secret', scopes: ['runs:read'] })
    expect(house.said).not.toContain(token)
  })
})

test.describe('workflow texts that cannot be', () => {
  const send = (api: Api, text: string | Uint8Array<ArrayBuffer>) =>
    api.send('POST', '/api/v1/workflows', text, atd)
  const check = async (api: Api, text: string) =>
    (await api.must(api.send<Validation>('POST', '/api/v1/workflows/validate', text, atd))).diagnostics
  const node = (id: string) => ({ id, label: id })

  test('no JSON', async ({ api }) => {
    refused(await send(api, '{"wf_id": "x",\n  "nodes": ['), 422, 'workflow_invalid', /./)
    expect(await check(api, '{"wf_id": "x",\n  "nodes": [')).toMatchObject([{ severity: 'error', line: 2 }])
    refused(await send(api, ''), 422, 'workflow_invalid', /./)
    refused(await send(api, new Uint8Array([0xff, 0xfe, 0x7b])), 400, 'bad_request', /UTF-8/)
  })

  test('a cycle, a dangling edge, an id given twice', async ({ api }) => {
    const cyclic = JSON.stringify({
      wf_id: 'c',
      nodes: [node('a'), node('b')],
      edges: [
        { from: 'a', to: 'b' },
        { from: 'b', to: 'a' },
      ],
    })
    refused(await send(api, cyclic), 422, 'workflow_invalid', /./)
    expect((await check(api, cyclic)).map(({ message }) => message).join()).toMatch(/cycle|circle/i)
    const dangling = JSON.stringify({ wf_id: 'd', nodes: [node('a')], edges: [{ from: 'a', to: 'gone' }] })
    expect((await check(api, dangling)).map(({ message }) => message).join()).toContain('gone')
    const twice = JSON.stringify({ wf_id: 't', nodes: [node('a'), node('a')], edges: [] })
    expect(await check(api, twice)).not.toEqual([])
  })

  test('a million nodes and a 50 MB upload are refused at their bounds, and the console goes on', async ({
    api,
  }) => {
    const million = `{"wf_id":"m","edges":[],"nodes":[${Array.from({ length: 1_000_000 }, (_, at) => `{"id":"n${at}"}`).join()}]}`
    refused(await send(api, million), 413, 'body_too_large', /send less/)
    const many = `{"wf_id":"m","edges":[],"nodes":[${Array.from(
      { length: 300_000 },
      (_, at) => `{"id":"n${at}","label":"n"}`,
    )
      .join()
      .slice(0, 8_000_000)}]}`
    expect((await send(api, many)).status).toBeGreaterThanOrEqual(400)
    refused(await send(api, 'x'.repeat(50 * 1024 * 1024)), 413, 'body_too_large', /send less/)
    expect((await api.get('/api/v1/health')).status).toBe(200)
  })
})

test.describe('the data folder', () => {
  test('has one server: the second is told who has it', async ({ house }) => {
    const second = await serve('--data', house.data)
    expect(second.code).not.toBe(0)
    expect(second.said).toMatch(/A Holdpoint server already runs on .*: process \d+, started/)
    expect((await fetch(`${house.origin}/api/v1/health`)).status).toBe(200)
  })

  test('that cannot be written is named', async ({ house: _ }, info) => {
    const file = info.outputPath('a-file')
    writeFileSync(file, '')
    const told = await serve('--data', path.join(file, 'data'))
    expect(told.code).not.toBe(0)
    expect(told.said).toContain(path.join(file, 'data'))
  })
})

async function heldNote(api: Api, name: string) {
  const input = { device: 'edge-router-07', change: `For ${name}.`, path: `notes/api-${name}.md` }
  return api.held(await api.startRun('config-note', input))
}

/** A server that is expected to end by itself. */
async function serve(...args: string[]): Promise<{ code: number | null; said: string }> {
  const port = String(await freePorts(1))
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['lib/cli/holdpoint.mjs', 'serve', '--port', port, ...args], {
      cwd: root,
    })
    let said = ''
    const hear = (chunk: Buffer) => {
      said += chunk.toString()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('exit', (code) => resolve({ code, said }))
  })
}
