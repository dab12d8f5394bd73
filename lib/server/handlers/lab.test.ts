import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { freePorts } from '@/e2e/house'
import { type Lab, startLab } from '@/examples/lab/start-lab'
import type { LabView } from '@/lib/view/lab-wire'
import { type Browser, TestConsole } from '../testing/console'
import { getLab, postFault } from './lab'

const secret = 'a secret of this test'
let at: TestConsole
let otto: Browser
let lab: Lab
let folder: string
const before = { ...process.env }

beforeAll(async () => {
  at = await TestConsole.open()
  otto = await at.person('otto', 'operator')
  folder = mkdtempSync(path.join(tmpdir(), 'lab-faults-'))
  const basePort = await freePorts(7)
  lab = await startLab({ dataDir: folder, basePort, consoleJwks: () => ({ keys: [] }), secret })
  Object.assign(process.env, {
    HOLDPOINT_LAB: '1',
    HOLDPOINT_LAB_SECRET: secret,
    HOLDPOINT_LAB_PORT: `${basePort}`,
  })
})
afterEach(() => {
  for (const { name } of lab.agents) lab.fail(name, { kind: 'none' })
})
afterAll(async () => {
  process.env = before
  await lab.stop()
  await at.close()
  rmSync(folder, { recursive: true })
})

const fault = (name: string, body: object, who = otto) =>
  who.ask<LabView & { code?: string; detail?: string }>(postFault, 'POST', { params: { name }, body })

it('makes an agent fail, shows it to everybody, and sets it right again', async () => {
  const made = await fault('classifier', { kind: 'slow', ms: 700 })
  expect(made.status).toBe(200)
  const vera = await at.person('vera', 'viewer')
  const seen = (await vera.ask<LabView>(getLab, 'GET')).body.agents.find(({ name }) => name === 'classifier')
  expect(seen?.fault).toMatchObject({ kind: 'slow', ms: 700 })
  await fault('mailer', { kind: 'errors' })
  const mailer = lab.agents.find(({ name }) => name === 'mailer')
  expect((await fetch(`${mailer?.baseUrl}/state`)).status).toBe(503)
  const right = await fault('mailer', { kind: 'none' })
  expect(right.body.agents.find(({ name }) => name === 'mailer')?.fault).toBeUndefined()
  expect((await fetch(`${mailer?.baseUrl}/state`)).status).toBe(200)
})

it('is for operators, for agents of the lab and for faults there are', async () => {
  const walter = await at.person('walter', 'viewer')
  expect(await fault('classifier', { kind: 'errors' }, walter)).toMatchObject({
    status: 403,
    body: { code: 'role_missing' },
  })
  const nobody = await fault('nobody', { kind: 'errors' })
  expect(nobody).toMatchObject({ status: 404, body: { detail: 'The lab has no agent "nobody".' } })
  expect((await fault('classifier', { kind: 'explode' })).status).toBe(400)
  expect((await fault('classifier', { kind: 'slow', ms: 500_000 })).status).toBe(400)
})

it('takes faults only from who knows the secret, and from no page in a browser', async () => {
  const url = `${lab.controlUrl}/faults/classifier`
  const asked = (headers: Record<string, string>) =>
    fetch(url, { method: 'PUT', headers, body: '{"kind":"errors"}' }).then(({ status }) => status)
  expect(await asked({})).toBe(403)
  expect(await asked({ authorization: 'Bearer guessed' })).toBe(403)
  const preflight = await fetch(url, { method: 'OPTIONS', headers: { origin: 'https://evil.example' } })
  expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([403, null])
  expect(await asked({ authorization: `Bearer ${secret}` })).toBe(200)
})

it('is not there without a lab', async () => {
  process.env.HOLDPOINT_LAB = '0'
  const words = 'There is no lab here; start the console with the lab to make its agents fail.'
  for (const answer of [
    await otto.ask<{ detail?: string }>(getLab, 'GET'),
    await fault('classifier', { kind: 'errors' }),
  ])
    expect(answer).toMatchObject({ status: 404, body: { code: 'not_found', detail: words } })
  process.env.HOLDPOINT_LAB = '1'
})
