import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { failureOf } from './fixtures'
import { secretsOf } from './secrets'

let base: string
let kept: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdpoint-secrets-')))
  kept = path.join(base, 'secrets')
  mkdirSync(kept)
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const variables: Record<string, string> = { TOKEN: 'from env', EMPTY: '', HOLDPOINT_KEY: 'own' }

function places(more: { unconfined?: boolean } = {}) {
  return { env: (name: string) => variables[name], folders: [kept], unconfined: false, ...more }
}

const fromFile = (file: string, more = {}) => secretsOf([{ name: 'F', from: { file } }], places(more))('F')
const fromEnv = (env: string) => secretsOf([{ name: 'E', from: { env } }], places())('E')

test('a secret stands in a variable or a file, and only declared ones are found', async () => {
  writeFileSync(path.join(kept, 'token'), 'from file\n')
  expect(await fromEnv('TOKEN')).toBe('from env')
  expect(await fromFile(path.join(kept, 'token'))).toBe('from file')
  expect(await secretsOf([], places())('TOKEN')).toBeUndefined()
})

test('one without a value is unknown', async () => {
  writeFileSync(path.join(kept, 'empty'), '\n')
  expect(await fromEnv('EMPTY')).toBeUndefined()
  expect(await fromEnv('UNSET')).toBeUndefined()
  expect(await fromFile(path.join(kept, 'empty'))).toBeUndefined()
  expect(await fromFile(path.join(kept, 'none'))).toBeUndefined()
})

test('a rotated one counts from the next time on', async () => {
  const file = path.join(kept, 'token')
  const secret = secretsOf([{ name: 'F', from: { file } }], places())
  writeFileSync(file, 'old')
  expect(await secret('F')).toBe('old')
  writeFileSync(file, 'new\r\n')
  expect(await secret('F')).toBe('new')
})

test('a file outside the installation’s folders is no secret, also behind a symlink', async () => {
  const outside = path.join(base, 'shadow')
  writeFileSync(outside, 'root:hash')
  symlinkSync(outside, path.join(kept, 'link'))
  for (const file of [outside, path.join(kept, 'link'), path.join(kept, '..', 'shadow')]) {
    const failure = await failureOf(fromFile(file))
    expect(failure.code).toBe('secret_unreadable')
    expect(failure.message).toContain('The secret "F" cannot be used: its file lies outside')
    expect(failure.message).not.toContain('root:hash')
  }
  expect(await fromFile(outside, { unconfined: true })).toBe('root:hash')
})

test('a file that is none, too large or no text is refused without a word of it', async () => {
  writeFileSync(path.join(kept, 'large'), 'x'.repeat(65_537))
  writeFileSync(path.join(kept, 'binary'), Buffer.from([0xff, 0x00]))
  mkdirSync(path.join(kept, 'folder'))
  expect((await failureOf(fromFile(path.join(kept, 'large')))).message).toContain('(too_large)')
  expect((await failureOf(fromFile(path.join(kept, 'binary')))).message).toContain('no UTF-8 text')
  expect((await failureOf(fromFile(path.join(kept, 'folder')))).message).toContain('(not_a_file)')
})

test('Holdpoint’s own settings are nobody’s secrets', async () => {
  const failure = await failureOf(fromEnv('HOLDPOINT_KEY'))
  expect(failure.code).toBe('secret_unreadable')
  expect(failure.message).toContain('a setting of Holdpoint itself')
})
