import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { version } from './version'

it('is the one that package.json names', () => {
  const file = path.join(import.meta.dirname, '../../package.json')
  expect(version).toBe(JSON.parse(readFileSync(file, 'utf8')).version)
})
