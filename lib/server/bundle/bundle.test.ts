import { readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashJson, sha256 } from '@/lib/base/hash'
import type { JsonObject } from '@/lib/base/json'
import { jwksOf, parseKeySet } from '@/lib/ect/keys'
import { versionOf } from '@/lib/workflow/versions'
import { bundleType, entryName, runEntries, valueEntry, workflowEntries } from './bundle'
import { readTar } from './tar'
import { changedJson, forged, type Lie, tarOf, textOf } from './testing/forge'
import { type Incident, loop, tellIncident } from './testing/incident'
import { jtiOf, keyPair, type Told, ToldHouse } from './testing/told-house'
import type { BundleVerdict } from './verdict'
import { examineBundle, verifyBundle } from './verify-bundle'

const theirs = keyPair('2026-11-21-theirs')

async function failuresOf(file: Uint8Array, keys?: Parameters<typeof verifyBundle>[1]) {
  const verdict = await verifyBundle(file, keys)
  if (verdict.holds) throw new Error('expected a refusal, and the bundle holds')
  return verdict.failures
}

const refusal = async (...asked: Parameters<typeof failuresOf>) => (await failuresOf(...asked))[0]

function flipped(file: Buffer, at: number, bit = 0): Buffer {
  const copy = Buffer.from(file)
  copy[at] = (copy[at] as number) ^ (1 << bit)
  return copy
}

describe('a bundle', () => {
  let incident: Incident
  let file: Buffer
  let ledger: string
  beforeAll(async () => {
    incident = await tellIncident()
    file = await incident.house.bundle(incident.run)
    ledger = runEntries(incident.run).ledger
  })

  it('holds, and says what it holds and whose it is', async () => {
    const verdict = (await verifyBundle(file)) as Extract<BundleVerdict, { holds: true }>
    expect(verdict).toMatchObject({
      ...{
        holds: true,
        edition: 2,
        run: incident.run,
        workflow: 'mend-tests',
        tokens: 25,
        runs: 2,
        heads: 2,
      },
      ...{ values: 9, leftOut: 1, keysGiven: false, notes: [] },
    })
    expect(verdict.signedBy).toMatchObject({
      kid: '2026-11-21-ours',
      thumbprint: expect.stringMatching(/^[\w-]{43}$/),
    })
    const keys = parseKeySet(JSON.parse(JSON.stringify(jwksOf(incident.house.ours.keys))))
    expect(await verifyBundle(file, { keys })).toMatchObject({ holds: true, keysGiven: true })
  })

  it('has the same bytes whenever the same state is exported', async () => {
    expect((await incident.house.bundle(incident.run)).equals(file)).toBe(true)
  })

  it('opens with any tar program: its entries are as told', () => {
    const names = readTar(file).map(({ name }) => name)
    expect(names.slice(0, 6)).toEqual(Object.values(entryName))
    expect(names).toContain(workflowEntries(versionOf(loop)).graph)
    for (const run of [incident.run, incident.child]) {
      expect(names).toEqual(expect.arrayContaining(Object.values(runEntries(run))))
    }
    expect(names.filter((name) => name.startsWith('values/'))).toHaveLength(9)
  })

  it('never holds what a checkpoint sealed, and lists it by its hash', () => {
    const { leftOut } = JSON.parse(textOf(readTar(file), entryName.manifest))
    const sealed = hashJson({ sealed: 'never to be seen' })
    expect(leftOut).toEqual([{ hash: sealed, why: 'sealed', run: incident.run, seq: 7 }])
    expect(file.includes('never to be seen')).toBe(false)
  })

  it('says who decided what, when and why, and what was asked', () => {
    const { decisions } = JSON.parse(textOf(readTar(file), entryName.decisions))
    expect(decisions).toEqual([
      expect.objectContaining({
        ...{
          run: incident.run,
          seq: 5,
          jti: jtiOf('incident', 5),
          type: 'approval_decided',
          by: 'person:grace',
        },
        ...{ verdict: 'approve', node: 'work', comment: expect.stringContaining('Fine by me') },
        asked: {
          jti: jtiOf('incident', 4),
          sentence: expect.stringContaining('Change '),
          role: 'operator:oncall',
        },
      }),
      expect.objectContaining({ type: 'rollback_request', scope: 'sub_dag', by: 'person:grace' }),
      expect.objectContaining({ type: 'rollback_choice', choice: 'end' }),
    ])
  })

  it('leaves out values that are too large when asked to, and lists them', async () => {
    const small = await incident.house.bundle(incident.run, { valueMaxBytes: 100 })
    const { leftOut } = JSON.parse(textOf(readTar(small), entryName.manifest))
    const large = leftOut.filter(({ why }: { why: string }) => why === 'too_large')
    expect(large.map(({ size }: { size: number }) => size)).toEqual([131, 118])
    expect(await verifyBundle(small)).toMatchObject({ holds: true, values: 7, leftOut: 3 })
  })

  it('refers to the run that began an exported child, and leaves its ledger out', async () => {
    const child = await incident.house.bundle(incident.child)
    expect(JSON.parse(textOf(readTar(child), entryName.manifest)).begunBy).toMatchObject({
      ...{ run: incident.run, jti: jtiOf('incident', 10), included: false },
    })
    expect(await verifyBundle(child)).toMatchObject({ holds: true, runs: 1, tokens: 4 })
  })

  it('notices a change in each of its parts, and names the part', async () => {
    const unnoticed: number[] = []
    const unnamed: string[] = []
    let from = 0
    for (const { name, content } of readTar(file)) {
      const begin = from + 512
      const places = [
        from,
        from + 130,
        begin,
        begin + Math.floor(content.length / 2),
        begin + content.length - 1,
      ]
      for (const [nth, at] of places.entries()) {
        const verdict = await verifyBundle(flipped(file, at, nth))
        if (verdict.holds) unnoticed.push(at)
        else if (at >= begin && verdict.failure.entry !== name)
          unnamed.push(`${name} → ${verdict.failure.entry}`)
      }
      from = begin + Math.ceil(content.length / 512) * 512
    }
    expect({ unnoticed, unnamed }).toEqual({ unnoticed: [], unnamed: [] })
  })

  it('notices any other edit: bytes cut out, put in, or exchanged', async () => {
    const edit = fc.record({
      at: fc.nat(file.length - 1),
      cut: fc.nat(600),
      put: fc.uint8Array({ maxLength: 600 }),
    })
    await fc.assert(
      fc.asyncProperty(edit, async ({ at, cut, put }) => {
        const changed = Buffer.concat([file.subarray(0, at), put, file.subarray(at + cut)])
        fc.pre(!changed.equals(file))
        expect((await verifyBundle(changed)).holds).toBe(false)
      }),
      { numRuns: 100 },
    )
  })

  it('names every part that was changed, and the token where a ledger was', async () => {
    const report = file.indexOf('<!doctype html>') + 40
    const line = file.indexOf('{"seq":3,') + 300
    const failures = await failuresOf(flipped(flipped(file, report), line))
    expect(failures.map(({ entry }) => entry)).toEqual([entryName.report, ledger])
    expect(failures[1]).toMatchObject({
      seq: 3,
      sentence: expect.stringMatching(/^Token 3 .* does not hold: /),
    })
  })

  it('does not hold under the keys of someone else, nor when its maker signed it anew', async () => {
    expect(await refusal(file, { keys: theirs.keys })).toMatchObject({
      entry: 'manifest.jws',
      code: 'ect_key_unknown',
    })
    const { ours } = incident.house
    const resigned = await incident.house.bundle(incident.run, {}, { ...theirs.key, kid: ours.key.kid })
    expect(await refusal(resigned)).toMatchObject({ entry: 'manifest.jws', code: 'ect_signature_invalid' })
  })

  it('can be looked at although its signature does not hold, by whoever insists', async () => {
    const { verdict, contents } = await examineBundle(file, { keys: theirs.keys })
    expect(verdict.holds).toBe(false)
    expect(contents?.runs.map(({ about }) => about.run)).toEqual([incident.run, incident.child])
  })

  it('names the keys when it is they that were changed', async () => {
    expect(await refusal(flipped(file, file.indexOf('"x":"') + 9))).toMatchObject({ entry: 'keys.json' })
  })

  it('never takes a token for a statement', async () => {
    const token = JSON.parse(textOf(readTar(file), ledger).split('\n')[0] as string).token as string
    const entries = readTar(file).map((entry) =>
      entry.name === entryName.statement ? { ...entry, content: Buffer.from(token) } : entry,
    )
    const failure = await refusal(await tarOf(entries))
    expect(failure).toMatchObject({ entry: 'manifest.jws', code: 'ect_typ_refused' })
    expect(failure?.sentence).toContain(bundleType)
  })

  describe('that lies and is signed all the same', () => {
    const lie = (change: Lie) => forged(file, incident.house.ours.key, change)
    const manifestLie = (change: NonNullable<Lie['manifest']>) => lie({ manifest: change })
    const first = <T>(list: T[] | undefined) => list?.[0] as T
    const value = () => valueEntry(sha256('{"passed":2,"total":5}'))

    it.each([
      [
        'a value under another’s name',
        () => lie({ entries: { [value()]: '{}' } }),
        'bundle_value_wrong',
        /does not have the hash it is named by/,
      ],
      [
        'a value taken out',
        () => lie({ entries: { [value()]: undefined } }),
        'bundle_value_missing',
        /^Token 11 of run_\w+ names the value .* neither in the bundle nor listed/,
      ],
      [
        'a value that no token names',
        () => lie({ entries: { [valueEntry(sha256('{"x":1}'))]: '{"x":1}' } }),
        'bundle_value_wrong',
        /is named by no token/,
      ],
      [
        'what a checkpoint sealed',
        () =>
          lie({
            entries: {
              [valueEntry(hashJson({ sealed: 'never to be seen' }))]: '{"sealed":"never to be seen"}',
            },
          }),
        'bundle_value_wrong',
        /is what a checkpoint sealed/,
      ],
      [
        'something left out that nothing names',
        () =>
          manifestLie((one) =>
            one.leftOut.push({ hash: sha256('?'), why: 'not_stored', run: incident.run, seq: 1 }),
          ),
        'bundle_value_wrong',
        /no token names it/,
      ],
      [
        'a decision with another comment',
        () =>
          lie({
            entries: {
              [entryName.decisions]: changedJson(file, entryName.decisions, ({ decisions }) => {
                first(decisions as JsonObject[]).comment = 'I never said so'
              }),
            },
          }),
        'bundle_claim_false',
        /^The decision of token 5 of run_\w+ says another "comment" than the token/,
      ],
      [
        'a decision left out',
        () =>
          lie({
            entries: {
              [entryName.decisions]: changedJson(file, entryName.decisions, ({ decisions }) => {
                ;(decisions as JsonObject[]).pop()
              }),
            },
          }),
        'bundle_claim_false',
        /has 3 decisions, and 2 are listed/,
      ],
      [
        'a report of another end',
        () =>
          lie({
            entries: {
              [entryName.claims]: changedJson(file, entryName.claims, ({ runs }) => {
                first(runs as JsonObject[]).terminal = 'success'
              }),
            },
          }),
        'bundle_claim_false',
        /"terminal" of number 1 of its runs is not so/,
      ],
      [
        'a report of another artifact',
        () =>
          lie({
            entries: {
              [entryName.claims]: changedJson(file, entryName.claims, ({ artifacts }) => {
                first(artifacts as JsonObject[]).value = sha256('?')
              }),
            },
          }),
        'bundle_claim_false',
        /"value" of number 1 of its artifacts is not so/,
      ],
      [
        'another graph',
        () => lie({ entries: { [workflowEntries(versionOf(loop)).graph]: '{}' } }),
        'bundle_invalid',
        /The graph is not that of the version/,
      ],
      [
        'a child that is missing',
        () =>
          lie({
            entries: Object.fromEntries(
              Object.values(runEntries(incident.child)).map((name) => [name, undefined]),
            ),
            manifest: (one) => {
              one.runs.pop()
              one.tokens -= 4
            },
          }),
        'bundle_link_broken',
        /^Token 12 of run_\w+ follows the token \S+ of a run below it, which no child of check in the bundle has/,
      ],
      [
        'a child of another step',
        () => manifestLie(({ runs }) => Object.assign(runs[1]?.parent ?? {}, { node: 'plan' })),
        'bundle_link_broken',
        /follows no token of visit 1 of plan/,
      ],
      [
        'another person who began it',
        () => manifestLie(({ runs }) => Object.assign(runs[0] ?? {}, { startedBy: 'person:mallory' })),
        'bundle_link_broken',
        /was begun by person:ada, and the manifest says person:mallory/,
      ],
      [
        'fewer tokens than it has',
        () =>
          manifestLie((one) => {
            one.tokens -= 1
          }),
        'bundle_claim_false',
        /The manifest says 24 tokens/,
      ],
      [
        'a ledger that was cut short',
        () =>
          lie({
            entries: { [ledger]: `${textOf(readTar(file), ledger).split('\n').slice(0, 20).join('\n')}\n` },
          }),
        'ledger_tail_cut',
        /its tail was cut off/,
      ],
      [
        'heads that were removed',
        () => lie({ entries: { [runEntries(incident.run).heads]: '' } }),
        'ledger_tail_cut',
        /heads were removed/,
      ],
      [
        'one run twice',
        () => manifestLie(({ runs }) => runs.push(first(runs))),
        'bundle_invalid',
        /lists the run run_\w+ twice/,
      ],
      [
        'the wid of another run',
        () => manifestLie(({ runs }) => Object.assign(runs[1] ?? {}, { wid: jtiOf('x', 1) })),
        'bundle_invalid',
        /is not that of run_/,
      ],
    ] as const)('is found out: %s', async (_, make, code, sentence) => {
      const failures = await failuresOf(await make())
      expect(failures).toContainEqual(
        expect.objectContaining({ code, sentence: expect.stringMatching(sentence) }),
      )
    })

    it('is told, and no fault, where only the report’s wording differs', async () => {
      const verdict = await verifyBundle(
        await lie({ entries: { [entryName.report]: '<p>All was well</p>' } }),
      )
      expect(verdict).toMatchObject({
        holds: true,
        notes: [expect.stringMatching(/its figures were checked, its wording could not be/)],
      })
    })
  })

  describe('that somebody made to do harm', () => {
    const lie = (change: Lie) => forged(file, incident.house.ours.key, change)

    it.each([
      [
        'a path out of the folder',
        () => lie({ entries: { '../../etc/passwd': 'x' } }),
        /which no bundle has/,
      ],
      ['an absolute path', () => lie({ entries: { '/etc/passwd': 'x' } }), /which no bundle has/],
      [
        'JSON that nests without end',
        () => lie({ entries: { [entryName.claims]: '['.repeat(200_000) } }),
        /nests deeper than/,
      ],
      [
        'decisions that are none',
        () => lie({ entries: { [entryName.decisions]: '{"decisions":[7]}' } }),
        /is not as a bundle has it, at \/decisions\/0/,
      ],
      [
        'a line without end',
        () => lie({ entries: { [runEntries(incident.run).ledger]: `"${'x'.repeat(100_000)}"\n` } }),
        /Line 1 of .* has more than 65536 bytes/,
      ],
      [
        'a graph that is none',
        () => {
          const graph = '{"name":7}'
          const version = sha256(graph)
          return lie({
            entries: { [workflowEntries(version).graph]: graph },
            manifest: ({ workflows }) =>
              workflows.push({ ...(workflows[0] as (typeof workflows)[number]), version }),
          })
        },
        /is not as a bundle has it, at \/name/,
      ],
      [
        'a run id that is none',
        () => lie({ manifest: ({ runs }) => Object.assign(runs[1] ?? {}, { run: '../x' }) }),
        /is not as a bundle has it, at \/runs\/1\/run/,
      ],
    ])('is refused: %s', async (_, make, sentence) => {
      const failures = await failuresOf(await make())
      expect(failures).toContainEqual(
        expect.objectContaining({ code: 'bundle_invalid', sentence: expect.stringMatching(sentence) }),
      )
    })

    it('is refused when it has an entry twice, or one that is not listed', async () => {
      const entries = readTar(file)
      const last = entries.at(-1) as (typeof entries)[number]
      expect((await refusal(await tarOf([...entries, last])))?.sentence).toMatch(/has two entries "values\//)
      const more = await refusal(await tarOf([...entries, { name: 'extra.txt', content: Buffer.from('x') }]))
      expect(more?.sentence).toBe('The bundle has an entry "extra.txt" that the manifest does not list.')
    })

    it('is told that it is no bundle when it is something else', async () => {
      const picture = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3000, 7)])
      const otherTar = await tarOf([{ name: 'notes.txt', content: Buffer.from('x') }])
      for (const bytes of [Buffer.alloc(0), otherTar, Buffer.from('{}'), Buffer.alloc(2048), picture]) {
        expect(await refusal(bytes)).toMatchObject({
          ...{
            code: 'bundle_invalid',
            entry: '',
            sentence: expect.stringMatching(/^This is not a Holdpoint bundle: /),
          },
        })
      }
    })
  })
})

describe('a bundle of a run that goes on', () => {
  /** A run that was begun, and then paused and let go on, in turns. */
  async function going(tokens: number) {
    const house = new ToldHouse()
    const version = await house.workflow(loop)
    const begun: Told = {
      ...{ type: 'workflow_start', wfId: loop.name, description: loop.description, nodeCount: 4, version },
      ...{ by: 'person:ada', dryRun: false, input: await house.value({}), entry: 'plan' },
    }
    const turns = Array.from(
      { length: tokens - 1 },
      (_, at): Told =>
        at % 2 === 0
          ? { type: 'run_paused', by: 'person:ada', reason: 'To look' }
          : { type: 'run_resumed', by: 'person:ada' },
    )
    const run = await house.run('going', loop, [begun, ...turns])
    return { house, run, file: await house.bundle(run) }
  }

  it('brings a signed head of its last token, and says so', async () => {
    const { house, run, file } = await going(4)
    expect(await house.store.ledger.heads(run)).toEqual([])
    const lines = textOf(readTar(file), runEntries(run).heads).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([4])
    expect(await verifyBundle(file)).toMatchObject({
      ...{ holds: true, tokens: 4, heads: 1 },
      notes: [`${run} had not ended; signed heads cover all that there was, 4 tokens of it`],
    })
    expect((await house.bundle(run)).equals(file)).toBe(true)
  })

  it('is found out where its last tokens were cut off, although all around them agrees', async () => {
    const { house, run, file } = await going(4)
    const { ledger } = runEntries(run)
    const short = textOf(readTar(file), ledger).split('\n').slice(0, 2)
    const lastHash = JSON.parse(short[1] ?? '').hash
    const lie = await forged(file, house.ours.key, {
      entries: { [ledger]: `${short.join('\n')}\n` },
      manifest: (manifest) => {
        manifest.tokens = 2
        for (const one of manifest.runs) Object.assign(one, { tokens: 2, lastHash })
      },
    })
    const verdict = await verifyBundle(lie)
    expect(verdict).toMatchObject({ holds: false })
    expect(verdict.holds ? [] : verdict.failures).toContainEqual(
      expect.objectContaining({
        code: 'ledger_tail_cut',
        entry: runEntries(run).heads,
        sentence: expect.stringContaining(
          'covers 4 entries, but the ledger ends at entry 2: its tail was cut off',
        ),
      }),
    )
  })

  it('keeps the heads it had, every 1,000 tokens', async () => {
    const { run, file } = await going(1_501)
    const lines = textOf(readTar(file), runEntries(run).heads).trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1_000, 1_501])
  })

  it('says what no head covers, where an older version wrote it', async () => {
    const { house, run, file } = await going(4)
    const old = await forged(file, house.ours.key, {
      entries: { [runEntries(run).heads]: '' },
      manifest: (manifest) => {
        for (const one of manifest.runs) one.heads = 0
      },
    })
    const verdict = await verifyBundle(old)
    const told = verdict.holds ? verdict.notes : verdict.failures.map(({ sentence }) => sentence)
    expect(told.join()).toContain(`no signed head covers the last 4 tokens of ${run}: that none were cut off`)
  })
})

describe('a bundle of the first edition', () => {
  const old = readFileSync(path.join(import.meta.dirname, 'testing/first-edition.tar'))

  it('still holds', async () => {
    expect(await verifyBundle(old)).toMatchObject({
      ...{ holds: true, edition: 1, workflow: 'config-note', tokens: 2, runs: 1, heads: 1, values: 1 },
      at: Date.UTC(2026, 10, 21, 12),
    })
  })

  it('still has every byte covered', async () => {
    const unnoticed: number[] = []
    for (let at = 0; at < old.length; at += 23) {
      if ((await verifyBundle(flipped(old, at, at % 8))).holds) unnoticed.push(at)
    }
    expect(unnoticed).toEqual([])
  })

  it('names the token that was changed', async () => {
    const at = old.indexOf('{"seq":2,') + 500
    expect(await refusal(flipped(old, at))).toMatchObject({
      ...{ entry: 'ledger.jsonl', seq: 2, sentence: expect.stringMatching(/^Token 2 .* does not hold: /) },
    })
  })
})
