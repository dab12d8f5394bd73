import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { layeredLayout } from '@/lib/view/layered-layout'
import { shapeOf } from './layout-cache'

const chain = (length: number) => ({
  nodes: Array.from({ length }, (_, at) => `n${at}`),
  edges: Array.from({ length: length - 1 }, (_, at) => ({ from: `n${at}`, to: `n${at + 1}` })),
})

/** Session storage as a browser has it: what a page leaves there its reload finds. */
function storage(room = Number.POSITIVE_INFINITY) {
  const held = new Map<string, string>()
  return {
    held,
    getItem: (key: string) => held.get(key) ?? null,
    setItem: (key: string, value: string) => {
      if (value.length > room) throw new Error('QuotaExceededError')
      held.set(key, value)
    },
  }
}

/** The module as a freshly loaded page has it. */
async function page() {
  vi.resetModules()
  return import('./layout-cache')
}

describe('layouts of graphs seen before', () => {
  beforeEach(() => void vi.stubGlobal('sessionStorage', storage()))
  afterEach(() => void vi.unstubAllGlobals())

  it('survive a reload, point by point', async () => {
    const graph = chain(12)
    const layout = layeredLayout(graph)
    ;(await page()).storeLayout(shapeOf(graph), layout)
    const reloaded = await page()
    expect(reloaded.layoutInMemory(shapeOf(graph))).toBeUndefined()
    expect(reloaded.layoutInStorage(shapeOf(graph))).toEqual(layout)
  })

  it('are of one shape each', async () => {
    const cache = await page()
    cache.storeLayout(shapeOf(chain(3)), layeredLayout(chain(3)))
    expect(cache.layoutInStorage(shapeOf(chain(4)))).toBeUndefined()
  })

  it('are not believed when what is stored is something else', async () => {
    for (const text of ['{', '[{"shape":"x"}]', '[{"shape":"[]","nodes":[["a",{"x":"1","y":0}]]}]']) {
      const kept = storage()
      vi.stubGlobal('sessionStorage', kept)
      kept.held.set('holdpoint.layouts.2', text)
      expect((await page()).layoutInStorage('x')).toBeUndefined()
    }
  })

  it('give way to newer ones, and do without storage where there is no room', async () => {
    const kept = storage()
    vi.stubGlobal('sessionStorage', kept)
    const cache = await page()
    for (let length = 200; length < 240; length++) {
      cache.storeLayout(shapeOf(chain(length)), layeredLayout(chain(length)))
    }
    expect(kept.held.get('holdpoint.layouts.2')?.length).toBeLessThan(501_000)
    const reloaded = await page()
    expect(reloaded.layoutInStorage(shapeOf(chain(239)))).toBeDefined()
    expect(reloaded.layoutInStorage(shapeOf(chain(200)))).toBeUndefined()

    vi.stubGlobal('sessionStorage', storage(10))
    const full = await page()
    full.storeLayout(shapeOf(chain(3)), layeredLayout(chain(3)))
    expect(full.layoutInMemory(shapeOf(chain(3)))).toBeDefined()
  })
})
