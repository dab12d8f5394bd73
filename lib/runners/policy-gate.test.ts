import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Json, JsonObject } from '@/lib/base/json'
import { policyAllowing } from '@/lib/policy/fixtures'
import { effectsWith, failureOf } from './fixtures'
import { locate } from './place'
import { type CompileRego, Policies } from './policy-gate'

let base: string
const inBase = (...parts: string[]) => path.join(base, ...parts)

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdpoint-gate-')))
  for (const folder of ['lab/out', 'lab/docs', 'outside']) mkdirSync(inBase(folder), { recursive: true })
  writeFileSync(inBase('lab/docs/a.txt'), 'a')
  writeFileSync(inBase('outside/secret'), 'hidden')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

/** An evaluator that stands for Rego: the module's text is what it answers, as JSON; `!` refuses to compile. */
function evaluator() {
  const compiled: string[] = []
  const asked: { input: Json; data: JsonObject; now: number }[] = []
  const compile: CompileRego = (modules) => {
    const text = modules[0]?.text ?? ''
    compiled.push(text)
    if (text.startsWith('!')) {
      throw Object.assign(new Error('refused'), {
        diagnostics: [{ code: 'rego_parse_error', message: 'unexpected "!"', line: 3, column: 7 }],
      })
    }
    return {
      explain(input, data, now) {
        asked.push({ input, data, now })
        if (text === 'throws') throw new Error('division by zero')
        return { value: JSON.parse(text) as Json }
      },
    }
  }
  return { compile, compiled, asked }
}

function house(rego = evaluator()) {
  return new Policies({
    authoredFolders: [inBase('lab/docs'), inBase('lab')],
    unconfined: false,
    compile: rego.compile,
    now: () => 42,
  })
}

const rego = (text: string) => ({ text, data: { region: 'eu' }, query: 'data.agent.allow' })

describe('folders given by an allowlist', () => {
  const bounds = (allow: Parameters<typeof policyAllowing>[0], roots = [inBase('lab')]) =>
    effectsWith({ grants: policyAllowing(allow), installationRoots: roots })

  test('are what the patterns name, to read or to write', async () => {
    const effects = bounds({ read: [inBase('lab/docs/**')], write: [inBase('lab/out/**')] })
    expect((await locate('docs/a.txt', 'read', effects)).path).toBe(inBase('lab/docs/a.txt'))
    expect((await locate(inBase('lab/out/new/x'), 'write', effects)).path).toBe(inBase('lab/out/new/x'))
    const failure = await failureOf(locate('docs/a.txt', 'write', effects))
    expect(failure).toMatchObject({
      code: 'policy_denied',
      errorType: 'constraint_violation',
      retriable: false,
    })
    expect(failure.message).toBe(
      `fs.write denied on ${inBase('lab/docs/a.txt')}: no rule of policy.fs.write names it`,
    )
  })

  test('end where a symlink leads out, and the denial does not tell where to', async () => {
    symlinkSync(inBase('outside'), inBase('lab/docs/door'))
    const effects = bounds({ read: [inBase('lab/docs/**')] })
    const failure = await failureOf(locate('docs/door/secret', 'read', effects))
    expect(failure.code).toBe('policy_denied')
    expect(failure.message).toBe(
      `fs.read denied on ${inBase('lab/docs/door/secret')}: it leads to another place, and no rule of policy.fs.read names that`,
    )
    expect(failure.message).not.toContain('outside')
  })

  test('are not lent by a pattern that is a symlink itself', async () => {
    symlinkSync(inBase('outside'), inBase('lab/link'))
    for (const read of [[inBase('lab/link/**')], [inBase('lab/link/secret')]]) {
      expect((await failureOf(locate('link/secret', 'read', bounds({ read })))).code).toBe('policy_denied')
    }
  })

  test('stay within the installation, whatever the pattern says', async () => {
    const everything = bounds({ read: ['*'] })
    const failure = await failureOf(locate(inBase('outside/secret'), 'read', everything))
    expect(failure.code).toBe('path_outside_roots')
    expect(failure.message).toContain(`fs.read denied on ${inBase('outside/secret')}`)
    symlinkSync(inBase('outside'), inBase('lab/door'))
    expect((await failureOf(locate('door/secret', 'read', everything))).code).toBe('path_outside_roots')
    const unbound = bounds({ read: ['*'] }, [inBase('lab'), '/'])
    expect((await locate(inBase('outside/secret'), 'read', unbound)).path).toBe(inBase('outside/secret'))
  })

  test('let no spelling of a path out', async () => {
    symlinkSync(inBase('outside'), inBase('lab/docs/door'))
    symlinkSync('..', inBase('lab/docs/up'))
    const effects = bounds({ read: [inBase('lab/docs/**')] })
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'docs',
      'door',
      'up',
      'secret',
      'a.txt',
      'lab',
      'outside',
      'DOCS',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 7 }), fc.boolean(), async (parts, absolute) => {
        const name = absolute
          ? inBase('lab', 'docs') + parts.map((one) => `/${one}`).join('')
          : parts.join('/')
        const place = await locate(name, 'read', effects).catch(() => undefined)
        if (place) expect(`${place.path}/`.startsWith(`${inBase('lab/docs')}/`)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the gate', () => {
  const read = () => ({ tool: 'fs.read', path: inBase('lab/docs/a.txt') }) as const

  test('passes what list and Rego allow, asking with the policy’s data and the time', async () => {
    const engine = evaluator()
    const policy = { ...policyAllowing({ read: ['*'] }), rego: rego('true') }
    const gate = house(engine).gateOf(policy)
    await gate(read())
    await gate(read())
    expect(engine.asked[0]).toEqual({
      input: { tool: 'fs.read', args: { path: inBase('lab/docs/a.txt') } },
      data: { region: 'eu' },
      now: 42,
    })
    expect(engine.compiled).toEqual(['true'])
  })

  test('refuses what Rego denies, and what it fails on, never to be tried again', async () => {
    for (const [text, words] of [
      ['false', 'policy.rego: data.agent.allow is false'],
      ['throws', 'policy.rego could not be asked: division by zero'],
    ] as const) {
      const failure = await failureOf(
        house().gateOf({ ...policyAllowing({ read: ['*'] }), rego: rego(text) })(read()),
      )
      expect(failure).toMatchObject({
        code: 'policy_denied',
        errorType: 'constraint_violation',
        retriable: false,
        message: `fs.read denied on ${inBase('lab/docs/a.txt')}: ${words}`,
      })
    }
  })

  test('passes everything where nothing is stated', async () => {
    await house().gateOf({ roots: [], privateTargets: [] })(read())
  })
})

describe('a policy before its workflow runs', () => {
  const stated = (more: JsonObject) => ({
    ...policyAllowing({}),
    rego: { data: {}, query: 'data.agent.allow', ...more },
  })

  test('is refused with the place where it is wrong', async () => {
    expect(await house().check(stated({ text: '!' }))).toEqual([
      expect.objectContaining({
        severity: 'error',
        code: 'rego_parse_error',
        message: 'policy.rego, line 3, column 7: unexpected "!"',
        line: 3,
        column: 7,
      }),
    ])
    expect(await house().check(stated({ text: 'true' }))).toEqual([])
    expect(await house().check(policyAllowing({}))).toEqual([])
  })

  test('is read from a file beside the workflow, and from no other', async () => {
    writeFileSync(inBase('lab/policy.rego'), 'true')
    writeFileSync(inBase('outside/policy.rego'), 'true')
    symlinkSync(inBase('outside/policy.rego'), inBase('lab/link.rego'))
    expect(await house().check(stated({ file: 'policy.rego' }))).toEqual([])
    for (const [file, code] of [
      [inBase('outside/policy.rego'), 'path_outside_roots'],
      ['link.rego', 'path_outside_roots'],
      ['missing.rego', 'policy_missing'],
    ] as const) {
      expect(await house().check(stated({ file }))).toEqual([expect.objectContaining({ code })])
    }
  })

  test('denies every call when its file is gone', async () => {
    const gate = house().gateOf({
      ...stated({ file: 'gone.rego' }),
      ...{ allow: policyAllowing({ env: ['*'] }).allow },
    })
    const failure = await failureOf(gate({ tool: 'env.read', key: 'HOME' }))
    expect(failure.code).toBe('policy_denied')
    expect(failure.message).toContain('env.read denied on HOME: policy.rego could not be asked')
  })
})
