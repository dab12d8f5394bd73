/*
 * What every store promises the engine, as a suite: run on SQLite with real files, in memory, and on whatever comes.
 */
import { afterEach, beforeEach, describe } from 'vitest'
import type { Store } from '../store'
import { remembering } from './answers'
import { appending } from './appends'
import { listingApprovals } from './approval-lists'
import { keepingCircuits } from './circuits'
import { leasing } from './leases'
import { leaving } from './left-states'
import { listingRuns } from './run-lists'
import { signalling } from './signals'
import { telling } from './tells'
import { keeping } from './values'
import { keepingWorkflows } from './workflows'

/** Declares the suite for one kind of store. `open` gives a fresh, empty one. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(`a store (${name})`, () => {
    let store: Store
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())

    describe('appends', () => appending(() => store))
    describe('answers and replays', () => remembering(() => store))
    describe('values and checkpoints', () => keeping(() => store))
    describe('states that steps left', () => leaving(() => store))
    describe('tells of appends', () => telling(() => store))
    describe('keeps signals', () => signalling(() => store))
    describe('leases', () => leasing(() => store))
    describe('lists runs', () => listingRuns(() => store))
    describe('lists approvals', () => listingApprovals(() => store))
    describe('keeps workflows', () => keepingWorkflows(() => store))
    describe('keeps circuits', () => keepingCircuits(() => store))
  })
}
