import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { Problem } from '@/lib/base/problem'
import { defaultPolicy } from '@/lib/breaker/circuit'
import { createLog } from '@/lib/server/log'
import { openInstallation } from '@/lib/server/open-installation'
import type { CircuitRow } from '@/lib/view/circuit-wire'
import { circuitId } from '@/lib/worker/circuit-entry'
import {
  circuitLine,
  forceCommand,
  liftCommand,
  listCommand,
  probeCommand,
  withCommand,
} from './circuits-command'

const data = fs.mkdtempSync(path.join(os.tmpdir(), 'holdpoint-circuits-'))
const id = circuitId('workflow:failover', 'backend:default')
beforeAll(async () => {
  const house = await openInstallation({
    dataDir: data,
    origin: 'http://localhost:3998',
    log: createLog('silent'),
  })
  await house.circuits.through('workflow:failover', 'backend:default', defaultPolicy, {}, async () => 1)
  await house.close()
})
afterAll(() => fs.rmSync(data, { recursive: true, force: true }))

let out: string[]
beforeEach(() => {
  out = []
  vi.spyOn(console, 'log').mockImplementation((line) => void out.push(String(line)))
})
afterEach(() => vi.restoreAllMocks())

const short = id.slice(0, 8)

describe('holdpoint circuits', () => {
  it('lists, forces and lifts', async () => {
    expect(await listCommand({ data })).toBe(0)
    expect(out).toEqual([`${short}  closed  failover → default  0 % of 50 % (0 of 1 calls in 60 s)`])
    const forced = { to: 'open', reason: 'INC-2214', minutes: 75, data } as const
    expect(await forceCommand(short, forced)).toBe(0)
    expect(out[1]).toContain(`${short}  forced open  failover → default`)
    expect(out[1]).toMatch(/by person:.+\+cli for 75 min: INC-2214$/)
    expect(await listCommand({ data, json: true })).toBe(0)
    expect(JSON.parse(out[2] ?? '').items).toMatchObject([{ id, shown: 'forced_open' }])
    expect(out[1]).not.toContain('next probe')
    expect(await liftCommand(id, { data, reason: 'mended' })).toBe(0)
    expect(out[3]).toContain(`${short}  closed`)
  })

  it('probes nothing that has no question without a side effect', async () => {
    await expect(probeCommand(short, { data })).rejects.toMatchObject({
      code: 'probe_impossible',
      message:
        'Nothing can be asked here without a side effect; the next call after the cooldown is the probe',
    })
  })

  it('names the command that need not wait, where a probe may not go yet', () => {
    const refused = (because: string, sentence: string) =>
      withCommand(new Problem('circuit_open', sentence, { because, retryAfterS: 24 }), id)
    expect(refused('open', 'Its cooldown lasts another 24 s')).toMatchObject({
      code: 'circuit_open',
      message: `Its cooldown lasts another 24 s: \`holdpoint breakers force ${short} --to closed --minutes 5 --reason TEXT\``,
    })
    expect(refused('forced', 'Lift that')).toMatchObject({
      message: `Lift that: \`holdpoint breakers lift ${short} --reason TEXT\``,
    })
    const taken = new Problem('probe_taken', 'Another probe is out')
    expect(withCommand(taken, id)).toBe(taken)
  })

  it('makes no installation where there is none: an empty list would read as calm', async () => {
    const mistyped = path.join(data, 'mistyped')
    const refused = {
      code: 'store_missing',
      message: expect.stringContaining(`There is no database ${mistyped}`),
    }
    await expect(listCommand({ data: mistyped })).rejects.toMatchObject(refused)
    expect(fs.existsSync(mistyped)).toBe(false)
    expect(out).toEqual([])
  })

  it('counts down to a probe only where one goes by itself, and knows no rate without calls', () => {
    const open: CircuitRow = {
      id: 'c'.repeat(43),
      caller: { id: 'workflow:failover', kind: 'workflow', name: 'failover' },
      downstream: { id: 'backend:default', kind: 'backend', name: 'default' },
      status: 'open',
      shown: 'open',
      since: 0,
      counts: { calls: 0, failures: 0, rejected: 4 },
      errorRate: 1,
      threshold: 0.5,
      windowS: 60,
      minCalls: 3,
      cooldownRemainingS: 19,
      held: false,
      waiting: { count: 2, runs: [] },
      series: [],
    }
    const begin = 'cccccccc  open  failover → default  no calls in the last minute'
    expect(circuitLine(open, 0)).toBe(`${begin}  next probe in 19 s  2 runs wait`)
    expect(circuitLine({ ...open, cooldownRemainingS: 0 }, 0)).toBe(
      `${begin}  probe due: the next call is the probe  2 runs wait`,
    )
    expect(circuitLine({ ...open, held: true }, 0)).toBe(
      `${begin}  no probe until somebody answers the question about it  2 runs wait`,
    )
  })

  it('says what it does not know', async () => {
    await expect(liftCommand(id, { data, reason: 'again' })).rejects.toMatchObject({
      code: 'run_moved_on',
      message: 'Nothing is forced on this breaker.',
    })
    await expect(liftCommand('nothing', { data, reason: 'x' })).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no breaker "nothing"; `holdpoint breakers` lists those there are.',
    })
  })
})
