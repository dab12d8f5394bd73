/*
 * The whole way of an incident, with nothing told: a pack runs with a real store, real files and a scripted model, is
 * taken back and goes on, is forked, is exported through the API, verified, damaged in each part, and opened.
 */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiToken } from '@/lib/auth/api-tokens'
import { sha256 } from '@/lib/base/hash'
import { mintUuid, type RunId } from '@/lib/base/ids'
import type { JsonObject } from '@/lib/base/json'
import type { ExportContents } from '@/lib/view/bundle-wire'
import type { Overview } from '@/lib/view/overview-wire'
import type { ChildSummary, LedgerPage, RunDetail, RunRow, ValueView } from '@/lib/view/run-wire'
import type { Page } from '@/lib/view/wire'
import { executePlan } from '@/lib/worker/execute-plan'
import { makePlan } from '@/lib/worker/plan'
import { startWorker } from '@/lib/worker/worker'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { forkPlan, forkRun } from '../forks'
import { getExport, getExportContents } from '../handlers/export'
import { getOpened } from '../handlers/opened'
import { getOverview } from '../handlers/overview'
import { cancelRun, getChildren, getLedger, getRun, getValue, listRuns } from '../handlers/runs'
import { addressHeader } from '../http/client-address'
import type { Installation } from '../installation'
import { createLog } from '../log'
import { outcomeOf } from '../one-shot'
import { openInstallation } from '../open-installation'
import { readOpened } from '../opened'
import { prepareOpened } from '../prepare-opened'
import { openReachable } from '../reachable'
import { startRun } from '../runs'
import { type Answered, ask } from '../testing/console'
import { keepDerived } from '../workflows'
import { entryName } from './bundle'
import { readTar } from './tar'
import { textOf } from './testing/forge'
import { examineBundle, verifyBundle } from './verify-bundle'

const by = 'person:ada'
const set = (name: string, value: string) => ({ name: 'workflow__set_artifact', args: { name, value } })
const go = (event: string) => ({ name: 'workflow__transition', args: { event } })
const says = (...tool_calls: object[]) => ({ tool_calls })

let folder: string
let house: Installation
let run: RunId
let fork: RunId
let token: string

function packIn(root: string) {
  const state = (id: string, more: JsonObject = {}) => ({
    kind: 'prompt_state',
    config: { prompt: `p-${id}`, template: `You are ${id}.`, backend: 'm', ...more },
  })
  return graphOf(
    {
      plan: state('plan', { artifacts: ['note'] }),
      work: { ...state('work', { artifacts: ['note'], tools: ['save'] }), maxVisits: 2 },
      done: state('done', { terminal: true }),
    },
    [],
    {
      name: 'mend',
      format: 'promptpack',
      order: 'stepwise',
      edges: [
        { from: 'plan', to: 'work', when: 'Next', extra: {} },
        { from: 'work', to: 'done', when: 'Next', extra: {} },
      ],
      starts: [{ name: 'main', node: 'plan' }],
      policy: { roots: [{ path: root, access: 'write' }], privateTargets: [] },
      artifacts: [{ name: 'note', mediaType: 'text/plain', mode: 'replace', extra: {} }],
      tools: [
        {
          ...{ name: 'save', description: '', parameters: {}, extra: {} },
          binding: {
            kind: 'write_file',
            config: { path: `${root}/work/f.txt`, content: 'after' },
            artifacts: {},
          },
        },
      ],
    },
  )
}

async function worked(runId: RunId) {
  const worker = startWorker(house.ports, 'test')
  try {
    return await outcomeOf(house, runId, by, { signal: new AbortController().signal, timeoutS: 60 })
  } finally {
    await worker.stop()
  }
}

async function opened() {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'hp-incident-')))
  await mkdir(path.join(folder, 'work'))
  await mkdir(path.join(folder, 'data'))
  await writeFile(path.join(folder, 'work/f.txt'), 'before')
  const script = {
    when: [
      { system: 'You are plan', answers: [says(set('note', '<b>one</b>'), go('Next'))], repeat: true },
      {
        system: 'You are work',
        answers: [says({ name: 'save', args: {} }), says(set('note', 'two {{note}}'), go('Next'))],
        repeat: true,
      },
      { system: 'You are done', answers: ['ok'], repeat: true },
    ],
  }
  await writeFile(path.join(folder, 'answers.json'), JSON.stringify(script))
  await writeFile(
    path.join(folder, 'data/models.json'),
    JSON.stringify({
      backends: [{ name: 'm', provider: 'scripted', path: path.join(folder, 'answers.json') }],
    }),
  )
  return openInstallation({
    dataDir: path.join(folder, 'data'),
    origin: 'http://localhost:3000',
    log: createLog('silent'),
    roots: [folder],
    authoredFolders: [folder],
    unconfined: true,
    reachable: await openReachable(path.join(folder, 'data'), undefined, folder),
  })
}

beforeAll(async () => {
  house = await opened()
  const version = await keepDerived(house, packIn(folder), by)
  run = await startRun(house, { version, input: {}, by, dryRun: false })
  expect((await worked(run)).status).toBe('completed')
  const plan = await makePlan(house.ports, run, { node: 'work', mayCoordinate: true })
  const rollback = 'rb_1' as never
  await executePlan(house.ports, run, plan, { by, reason: 'It was wrong', rollback })
  await worked(run)
  expect(await readFile(path.join(folder, 'work/f.txt'), 'utf8')).toBe('before')
  await house.book.execute(run, { type: 'choose', rollback, choice: 'go_on', by })
  expect((await worked(run)).status).toBe('completed')
  const at = 6
  const { digest } = await forkPlan(house, run, { at })
  fork = await forkRun(house, run, { at, digest, dryRun: true, by, artifacts: { note: 'edited' } })
  await worked(fork)
  const person = { id: mintUuid(), name: 'vera', passwordHash: '', roles: ['viewer'], createdAt: Date.now() }
  await house.people.addPerson(person)
  const made = await createApiToken(
    house.auth,
    { kind: 'person', ...person, session: '' },
    { name: 'reader', scopes: ['export:read', 'runs:read'], days: 1 },
  )
  token = made.secret
})
afterAll(async () => {
  globalThis.holdpointInstallation = undefined
  await house?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Downloads a bundle as a viewer's program does. */
async function downloaded(id: RunId, query = ''): Promise<Buffer> {
  globalThis.holdpointInstallation = Promise.resolve(house)
  const request = new Request(`http://localhost:3000/api/v1/x${query}`, {
    headers: { authorization: `Bearer ${token}` },
  })
  const response = await getExport(request, { params: Promise.resolve({ run: id }) })
  expect(response.status).toBe(200)
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.headers.get('content-length')).toBe(String(bytes.length))
  return bytes
}

const asVera = { authorization: '' }
function reading<T>(
  handler: typeof getRun,
  params: Record<string, string>,
  query = '',
): Promise<Answered<T>> {
  return ask<T>(handler, 'GET', { params, query, headers: { ...asVera, authorization: `Bearer ${token}` } })
}

describe('an incident', () => {
  it('is exported with the runs below it, its artifacts, decisions and rollback, and verifies', async () => {
    const file = await downloaded(run)
    const verdict = await verifyBundle(file, { keys: house.keys.keys })
    expect(verdict).toMatchObject({ holds: true, run, keysGiven: true, notes: [] })
    const entries = readTar(file)
    const manifest = JSON.parse(textOf(entries, entryName.manifest))
    expect(manifest.runs.length).toBeGreaterThan(4)
    expect(manifest.leftOut.every(({ why }: { why: string }) => why === 'sealed')).toBe(true)
    expect(manifest.leftOut.length).toBeGreaterThan(0)
    const claims = JSON.parse(textOf(entries, entryName.claims))
    expect(claims.artifacts.filter((one: { run: string }) => one.run === run)).toHaveLength(3)
    const { decisions } = JSON.parse(textOf(entries, entryName.decisions))
    expect(decisions.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(['rollback_request', 'rollback_choice']),
    )
    expect(textOf(entries, entryName.report)).toContain('&lt;b&gt;one&lt;/b&gt;')
  })

  it('says before the download what goes in and how large it is', async () => {
    const file = await downloaded(run)
    const { body } = await reading<ExportContents>(getExportContents, { run })
    const { values, leftOut } = body
    const { decisions } = JSON.parse(textOf(readTar(file), entryName.decisions))
    expect(body).toMatchObject({ run, size: file.length, decisions: decisions.length })
    expect({ some: values.count > 10, sealed: leftOut.sealed > 0 }).toEqual({ some: true, sealed: true })
    expect(leftOut.tooLarge.count).toBe(0)
    const small = await reading<ExportContents>(getExportContents, { run }, '?max_value_bytes=50')
    expect(small.body.leftOut.tooLarge.count).toBeGreaterThan(0)
    expect(small.body.size).toBeLessThan(body.size)
  })

  it('is the same file each time', async () => {
    expect((await downloaded(run)).equals(await downloaded(run))).toBe(true)
  })

  it('names the part in which any byte was flipped', async () => {
    const file = await downloaded(run)
    const wrong: string[] = []
    let from = 0
    for (const { name, content } of readTar(file)) {
      const begin = from + 512
      from = begin + Math.ceil(content.length / 512) * 512
      if (content.length === 0) continue
      const copy = Buffer.from(file)
      const at = begin + Math.floor(content.length / 2)
      copy[at] = (copy[at] as number) ^ 4
      const verdict = await verifyBundle(copy)
      if (verdict.holds || verdict.failure.entry !== name) wrong.push(name)
    }
    expect(wrong).toEqual([])
  })

  it('refers to the run it was forked from, and takes it along when asked', async () => {
    const alone = await downloaded(fork)
    expect(await verifyBundle(alone)).toMatchObject({ holds: true, run: fork })
    const manifest = JSON.parse(textOf(readTar(alone), entryName.manifest))
    expect(manifest.forkedFrom).toMatchObject({ run, seq: 6, included: false })
    const both = await downloaded(fork, '?forks=true')
    expect(await verifyBundle(both)).toMatchObject({ holds: true, run: fork })
    const { runs, forkedFrom } = JSON.parse(textOf(readTar(both), entryName.manifest))
    expect(forkedFrom.included).toBe(true)
    expect(runs.find((one: { run: string }) => one.run === run)).toMatchObject({ relation: 'original' })
  })

  describe('opened', () => {
    let shown: Installation
    let cookie: string
    const link = 'a-link-of-32-octets'
    beforeAll(async () => {
      const file = await downloaded(run)
      const { verdict, contents } = await examineBundle(file)
      const place = path.join(folder, 'opened')
      if (!contents) throw new Error('the bundle has nothing to show')
      const note = await prepareOpened(place, { file: 'incident.tar', verdict, contents, link: sha256(link) })
      shown = await openInstallation({
        dataDir: place,
        origin: 'http://localhost:3000',
        log: createLog('silent'),
        opened: readOpened(note),
      })
    })
    afterAll(() => shown?.close())

    const look = (token: string, headers: Record<string, string>) => {
      globalThis.holdpointInstallation = Promise.resolve(shown)
      const stamping = globalThis as { holdpointStampsAddresses?: boolean }
      stamping.holdpointStampsAddresses = true
      return getOpened(new Request('http://localhost:3000/opened/x', { headers }), {
        params: Promise.resolve({ token }),
      }).finally(() => {
        stamping.holdpointStampsAddresses = false
      })
    }
    const get = <T>(handler: typeof getRun, params: Record<string, string>, query = '') => {
      globalThis.holdpointInstallation = Promise.resolve(shown)
      return ask<T>(handler, 'GET', { params, query, headers: { cookie } })
    }

    it('signs in whoever follows the link on this machine, and nobody else', async () => {
      const here = { [addressHeader]: '127.0.0.1', host: 'localhost:3000' }
      for (const [token, headers] of [
        ['another', here],
        [link, { ...here, [addressHeader]: '192.0.2.7' }],
        [link, { ...here, host: 'evil.example' }],
      ] as const) {
        expect((await look(token, headers)).status).toBe(404)
      }
      const response = await look(link, here)
      expect({ status: response.status, to: response.headers.get('location') }).toEqual({
        ...{ status: 303, to: `/runs/${run}` },
      })
      cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] as string
      expect(cookie).toMatch(/^holdpoint\.opened\./)
    })

    it('shows the run, its children, its tokens and its values as they were', async () => {
      const detail = await get<RunDetail>(getRun, { run })
      expect(detail.body).toMatchObject({
        row: { id: run, workflow: 'mend', status: 'ended', terminal: 'success' },
        may: { operate: false, rollBack: false, rollBackAll: false },
      })
      const [now, before] = [
        await get<LedgerPage>(getLedger, { run }),
        await reading<LedgerPage>(getLedger, { run }),
      ]
      // `reading` asks the installation of this process, which is the opened one now; the store is asked instead.
      expect(before.status).toBe(401)
      const rows = await house.store.ledger.rows(run, 0, 2_000)
      expect(now.body.rows.map((row) => row.token)).toEqual(rows.map((row) => row.token))
      const children = await get<ChildSummary>(getChildren, { run })
      expect(children.body.steps.map(({ node }) => node)).toEqual(expect.arrayContaining(['plan', 'work']))
      const below = await get<Page<RunRow>>(listRuns, {}, `?parent=${run}`)
      expect(below.body.items.length).toBeGreaterThan(3)
      const input = (await house.book.read(run, (folded) => folded.start?.input)) ?? ''
      expect((await get<ValueView>(getValue, { run, hash: input })).body).toMatchObject({
        hash: input,
        json: {},
      })
    })

    it('stands at the moment of its newest token, however much later it is looked at', async () => {
      const manifest = JSON.parse(textOf(readTar(await downloaded(run)), entryName.manifest)) as {
        at: number
      }
      expect(shown.opened?.at).toBe(manifest.at)
      const { body } = await get<Overview>(getOverview, {})
      expect(body.counts).toMatchObject({ waiting: 0, running: 0, endedToday: expect.any(Number) })
      expect(body.counts.endedToday).toBeGreaterThan(0)
    })

    it('refuses every write with one sentence', async () => {
      globalThis.holdpointInstallation = Promise.resolve(shown)
      const refused = await ask(cancelRun, 'POST', { params: { run }, body: {}, headers: { cookie } })
      expect(refused).toMatchObject({
        status: 403,
        body: {
          code: 'opened_read_only',
          detail: expect.stringMatching(
            /^This console shows the bundle incident\.tar, read-only: nothing in it can be changed here/,
          ),
        },
      })
      const again = await get(getExport, { run })
      expect(again).toMatchObject({ status: 403, body: { code: 'opened_read_only' } })
    })
  })
})
