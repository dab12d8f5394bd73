import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '@/lib/base/hash'
import { runIdOf } from '@/lib/base/ids'
import { chainHashSync, firstPrevHashSync } from '@/lib/ect/chain-node'
import { openKeyRing } from '@/lib/ect/keys-file'
import { signClaims, signHead } from '@/lib/ect/sign'
import { claimsOf } from '@/lib/engine/fact-codec'
import type { Fact } from '@/lib/engine/facts'
import { readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { openStore } from '@/lib/store/open'
import { lockForServer } from '@/lib/store/server-lock'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { versionOf } from '@/lib/workflow/versions'
import { dataFolder } from './data-folder'

const root = path.resolve(import.meta.dirname, '../..')
const example = readFileSync(path.join(root, 'examples/workflows/bgp-failover.atd.json'), 'utf8')
const wid = '7f3a0c1e-5b1d-4c1e-9d2a-0c1e5b1dc2e1'
const run = runIdOf(wid)

let folder: string
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-cli-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs the command as a user does. */
function holdpoint(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, 'lib/cli/holdpoint.mjs'), ...args],
      { cwd: folder },
      (error, out, err) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, out, err }),
    )
  })
}

function file(name: string, text: string): string {
  const place = path.join(folder, name)
  writeFileSync(place, text)
  return place
}

describe('holdpoint', () => {
  it('says what there is', async () => {
    const { code, out } = await holdpoint('--help')
    expect(code).toBe(0)
    for (const command of ['serve', 'worker', 'run', 'export', 'verify', 'validate', 'doctor']) {
      expect(out).toMatch(new RegExp(`^ {2}${command} `, 'm'))
    }
  })

  it.each(['serve', 'run', 'verify', 'validate'])(
    'ends the help of %s with the exit codes',
    async (command) => {
      const { code, out } = await holdpoint(command, '--help')
      expect(code).toBe(0)
      expect(out.trimEnd()).toMatch(/Exit codes: 0 done, 2 usage, 5 failed or refused(, 7 the run waits)?\.$/)
    },
  )

  it('serve says in one sentence that another server has the data folder', async () => {
    const taken = path.join(folder, 'taken')
    const lock = lockForServer(taken)
    try {
      const { code, out, err } = await holdpoint('serve', '--data', taken, '--port', '39217')
      expect(err.trim().split('\n')).toEqual([
        expect.stringMatching(
          /^holdpoint: A Holdpoint server already runs on .*taken: process \d+, started /,
        ),
      ])
      expect({ code, out }).toEqual({ code: 5, out: '' })
    } finally {
      lock.release()
    }
  })

  it.each([
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['run'], /run needs a workflow file, or --resume/],
    [
      ['run', 'x.json', '--timeout-secs', '0'],
      /--timeout-secs is "0"; expected a whole number from 1 to 31536000/,
    ],
    [['run', 'x.json', '--input', '{'], /The value of --input is not JSON/],
    [['run', '--resume', run, '--input', '{}'], /--resume goes on with a run as it is/],
    [['validate', 'nowhere.json'], /nowhere\.json cannot be read: there is no such file/],
    [['verify', '.'], /\. cannot be read: it is a folder/],
    [['serve', '--port', '99999'], /--port is "99999"/],
    [['export', 'run_1', '-o', 'x.tar'], /"run_1" is not a run id/],
  ])('answers %j with exit 2 and one sentence', async (args, sentence) => {
    const { code, out, err } = await holdpoint(...args)
    expect(err).toMatch(sentence)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })
})

describe('holdpoint validate', () => {
  it('takes a valid workflow', async () => {
    const { code, out } = await holdpoint('validate', file('good.atd.json', example))
    expect(out).toMatch(/good\.atd\.json: valid atd workflow with 3 nodes/)
    expect(code).toBe(0)
  })

  it('names each finding with its place, and refuses with exit 5', async () => {
    const { code, out } = await holdpoint('validate', file('bad.atd.json', '{\n  "wf_id": 7\n}'))
    expect(out).toMatch(/^.*bad\.atd\.json:\d+:\d+: error: .+ \[\w+\]$/m)
    expect(code).toBe(5)
  })

  it('answers with JSON for programs', async () => {
    const { out } = await holdpoint(
      'validate',
      '--json',
      file('bad2.atd.json', '{'),
      file('good2.atd.json', example),
    )
    const { valid, files } = JSON.parse(out)
    expect(valid).toBe(false)
    expect(files.map((one: { valid: boolean }) => one.valid)).toEqual([false, true])
    expect(files[0].diagnostics[0]).toMatchObject({
      severity: 'error',
      line: expect.any(Number),
      code: expect.any(String),
    })
  })
})

describe('holdpoint policy', () => {
  const policed = `name = "policed"
[[nodes]]
id = "stop"
type = "terminate"
[policy.fs]
read = ["docs/**"]
[policy.rego]
file = "policy.rego"
data = { suffix = ".txt" }
`
  const rego = 'package agent\n\ndefault allow = false\n\nallow if endswith(input.args.path, data.suffix)\n'

  it('says what a workflow would be allowed, with the rule, and refuses with exit 5', async () => {
    file('policy.rego', rego)
    const check = (target: string) =>
      holdpoint('policy', 'check', file('policed.toml', policed), '--tool', 'fs.read', '--target', target)
    const allowed = await check('docs/a.txt')
    expect(allowed.out).toMatch(
      /^fs\.read on docs\/a\.txt is allowed by policy\.fs\.read: .+docs\/\*\* and policy\.rego: /,
    )
    expect(allowed.code).toBe(0)
    for (const [target, words] of [
      ['docs/a.md', 'policy.rego: data.agent.allow is false'],
      ['docs/../x.txt', 'no rule of policy.fs.read names it'],
    ] as const) {
      const denied = await check(target)
      expect(denied.out).toMatch(/^fs\.read denied on /)
      expect(denied.out).toContain(words)
      expect(denied.code).toBe(5)
    }
  })

  it('refuses a workflow whose policy cannot be loaded', async () => {
    file('policy.rego', rego.replace('endswith', 'http.send'))
    const { code, out } = await holdpoint('validate', file('policed.toml', policed))
    expect(out).toMatch(/error: policy\.rego, line 5, column \d+: /)
    expect(code).toBe(5)
  })

  it('evaluates a query, and refuses what it does not know with its place', async () => {
    const module = file('m.rego', 'package test\n\np := {x | some x in input.list; x > data.min}\n')
    const files = ['--input', file('i.json', '{"list":[1,5,9]}'), '--data', file('d.json', '{"min":3}')]
    const answer = await holdpoint('policy', 'eval', '--rego', module, '--query', 'data.test.p[x]', ...files)
    expect(JSON.parse(answer.out)).toMatchObject({ result: [{ x: 5 }, { x: 9 }] })
    expect(answer.code).toBe(0)
    const refused = await holdpoint('policy', 'eval', '--rego', module, '--query', 'opa.runtime()')
    expect(JSON.parse(refused.out)).toMatchObject({ refused: [{ line: 1, column: expect.any(Number) }] })
    expect(refused.code).toBe(5)
  })
})

describe('holdpoint doctor', () => {
  it('finds nothing in the way of a first start', async () => {
    const { code, out } = await holdpoint('doctor', '--data', path.join(folder, 'new'))
    expect(out).toMatch(/the first start makes it/)
    expect(code).toBe(0)
  })

  it('names a key that others may read, and how to mend it', async () => {
    const data = path.join(folder, 'open')
    mkdirSync(path.join(data, 'keys'), { recursive: true, mode: 0o700 })
    writeFileSync(path.join(data, 'keys/signing-1.json'), '{}')
    chmodSync(path.join(data, 'keys/signing-1.json'), 0o644)
    const { code, out } = await holdpoint('doctor', '--data', data)
    expect(out).toMatch(/✗ Keys: .*signing-1\.json may be read by others; run: chmod 600/)
    expect(code).toBe(5)
  })
})

describe('holdpoint run', () => {
  const workflow = (...nodes: object[]) =>
    JSON.stringify({ wf_id: 'from-the-shell', description: 'Says a word', nodes, edges: [] })
  const greet = { id: 'greet', label: 'Greet', action: { type: 'template_render', template: 'Hello' } }
  const data = () => path.join(folder, 'runs')

  it('prints the outcome of a run that completes, and exits 0', async () => {
    const { code, out } = await holdpoint(
      'run',
      file('greet.atd.json', workflow(greet)),
      '--json',
      '--data',
      data(),
    )
    expect(JSON.parse(out)).toMatchObject({ status: 'completed', terminal_status: 'success' })
    expect(JSON.parse(out).run_id).toMatch(/^run_[0-9a-f]{32}$/)
    expect(code).toBe(0)
  })

  it('exits 7 when the run waits for a person, and goes on with it later', async () => {
    const held = file('held.atd.json', workflow({ ...greet, hitl_required: true }))
    const first = await holdpoint('run', held, '--json', '--data', data())
    expect(first.code).toBe(7)
    const { run_id, status, waits_for } = JSON.parse(first.out)
    expect({ status, waits: waits_for.length }).toEqual({ status: 'paused', waits: 1 })
    const again = await holdpoint('run', '--resume', run_id, '--json', '--data', data())
    expect(again.code).toBe(7)
    expect(JSON.parse(again.out).run_id).toBe(run_id)
  })

  it('refuses an invalid workflow with exit 5, and starts nothing', async () => {
    const { code, out, err } = await holdpoint('run', file('no.atd.json', '{}'), '--data', data())
    expect(err).toMatch(/workflow_invalid/)
    expect({ code, out }).toEqual({ code: 5, out: '' })
  })
})

describe('holdpoint export and verify', () => {
  const data = () => dataFolder(path.join(folder, 'installation'))

  beforeAll(async () => {
    const ring = openKeyRing(data().keys, Date.now())
    const graph = readWorkflow(example, 'x.atd.json', nodeKind).graph as WorkflowGraph
    const version = versionOf(graph)
    const now = Date.now()
    const iat = Math.floor(now / 1000)
    const aud = 'spiffe://holdpoint.test/console'
    const jti = '00000000-0000-4000-8000-000000000001'
    const input = sha256('{}')
    const fact: Fact = {
      ...{ type: 'workflow_start', jti, at: now, par: [], wfId: graph.name, description: '', nodeCount: 3 },
      ...{ version, by: 'person:ada', dryRun: false, input },
    }
    const token = signClaims(claimsOf(fact, { iss: aud, aud, wid, vocabulary: 'atd' }), ring.current)
    const prevHash = firstPrevHashSync(wid)
    const hash = chainHashSync(prevHash, token)
    const store = await openStore(data().path)
    await store.workflows.put({
      ...{ version, name: graph.name, description: '', format: 'atd', source: example },
      ...{
        mediaType: 'application/atd-workflow+json',
        importedAt: now,
        importedBy: 'person:ada',
        nodeCount: 3,
      },
    })
    await store.ledger.commit({
      runId: run,
      create: { runId: run, wid, version, workflowName: graph.name, startedBy: 'person:ada' },
      expectedSeq: 0,
      rows: [{ runId: run, seq: 1, jti, token, prevHash, hash }],
      heads: [{ seq: 1, jws: signHead({ wid, seq: 1, hash, iat }, ring.current) }],
      values: [{ hash: input, mediaType: 'application/json', bytes: Buffer.from('{}') }],
      checkpoints: [],
      projection: {
        ...{ status: 'running', startedAt: now, updatedAt: now, nodeCount: 3, doneCount: 0, failedCount: 0 },
        ...{ escalatedCount: 0, openApprovals: 0, dueAt: null },
      },
      approvals: [],
    })
    await store.close()
    writeFileSync(path.join(folder, 'keys.json'), JSON.stringify(ring.jwks()))
  })

  it('writes a bundle that holds, and says whose keys it was checked against', async () => {
    const exported = await holdpoint('export', run, '-o', 'run.tar', '--data', data().path)
    expect(exported).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /Wrote run\.tar: \d+ bytes with 1 token\. [\s\S]*\n {2}SHA-256 [0-9a-f]{64}, the same whenever/,
      ),
    })
    expect(statSync(path.join(folder, 'run.tar')).mode & 0o777).toBe(0o600)
    const own = await holdpoint('verify', 'run.tar')
    expect(own).toMatchObject({
      code: 0,
      out: expect.stringMatching(/checked against the keys in the bundle itself/),
    })
    const given = await holdpoint('verify', 'run.tar', '--keys', 'keys.json')
    expect(given).toMatchObject({
      code: 0,
      out: expect.stringMatching(/checked against your keys in keys\.json/),
    })
  })

  it('names what was changed, with exit 5', async () => {
    const bytes = readFileSync(path.join(folder, 'run.tar'))
    const at = bytes.indexOf('"token":"') + 200
    bytes[at] = (bytes[at] as number) ^ 1
    writeFileSync(path.join(folder, 'changed.tar'), bytes)
    const { code, out } = await holdpoint('verify', 'changed.tar')
    expect(out).toMatch(
      /^changed\.tar does not hold, in runs\/run_\w+\/ledger\.jsonl: Token 1 .*\[ect_signature_invalid\]\n$/,
    )
    expect(code).toBe(5)
  })

  it('never writes over a file', async () => {
    const { code, err } = await holdpoint('export', run, '-o', 'run.tar', '--data', data().path)
    expect(err).toMatch(/run\.tar is there already; name a new file with -o/)
    expect(code).toBe(2)
  })

  it('says which run is not there', async () => {
    const other = runIdOf('00000000-0000-4000-8000-000000000000')
    const { code, err } = await holdpoint('export', other, '-o', 'other.tar', '--data', data().path)
    expect(err).toMatch(/There is no run run_0{12}4/)
    expect(code).toBe(5)
  })
})
