import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openKeyRing } from '@/lib/ect/keys-file'
import { ConsoleKeys } from './console-keys'

const folder = mkdtempSync(path.join(tmpdir(), 'holdpoint-console-keys-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('makes requests that come before the first answer wait for it, and asks once', async () => {
  const ring = openKeyRing(folder, 0)
  const { kid } = ring.current
  let asked = 0
  const keys = new ConsoleKeys(
    async () => {
      asked += 1
      return ring.jwks()
    },
    () => 0,
  )
  const [first, second] = await Promise.all([keys.knowing(kid), keys.knowing(kid)])
  expect(first.has(kid)).toBe(true)
  expect(second.has(kid)).toBe(true)
  expect(asked).toBe(1)
})
