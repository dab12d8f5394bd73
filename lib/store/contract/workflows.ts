/** Workflow texts and their versions. */
import { expect, it } from 'vitest'
import { type Hash, sha256 } from '@/lib/base/hash'
import type { Store } from '../store'

export function keepingWorkflows(store: () => Store): void {
  const version = (name: string, text: string, importedAt: number) => ({
    version: sha256(text) as Hash,
    name,
    description: `does ${name}`,
    format: 'atd',
    source: text,
    mediaType: 'application/atd-workflow+json',
    importedAt,
    importedBy: 'person:ada',
    nodeCount: 2,
  })

  it('keeps each version once, byte for byte', async () => {
    const record = version('deploy', '{"é": "\u0000\u{1F600}"}\r\n', 1_700_000_000_000)
    expect(await store().workflows.put(record)).toBe(true)
    expect(await store().workflows.put({ ...record, importedAt: 1_800_000_000_000 })).toBe(false)
    expect(await store().workflows.get(record.version)).toEqual(record)
    expect(await store().workflows.get(sha256('none'))).toBeUndefined()
  })

  it('knows the newest version of each name', async () => {
    const records = [
      version('deploy', 'd1', 1),
      version('audit', 'a1', 2),
      version('deploy', 'd2', 3),
      version('deploy', 'd3', 3),
    ]
    for (const record of records) await store().workflows.put(record)
    const newest = sha256('d2') > sha256('d3') ? records[2] : records[3]
    expect(await store().workflows.latest()).toEqual([records[1], newest])
    expect((await store().workflows.versions('deploy')).map((record) => record.importedAt)).toEqual([3, 3, 1])
    const summaries = await store().workflows.summaries()
    expect(summaries.map(({ name, versions }) => [name, versions])).toEqual([
      ['audit', 1],
      ['deploy', 3],
    ])
    expect(summaries[0]).not.toHaveProperty('source')
  })
}
