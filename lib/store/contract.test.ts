import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll } from 'vitest'
import { storeContract } from './contract/contract'
import { memoryStore } from './memory'
import { openStore } from './open'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-store-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))

storeContract('in memory', async () => memoryStore())

let count = 0
storeContract('on SQLite', () => openStore(path.join(folder, `data-${++count}`)))
