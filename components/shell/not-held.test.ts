import { expect, it } from 'vitest'
import { links } from '@/lib/ui/links'
import { notHeldAt } from './not-held'

it('shows of a bundle what it holds: runs, what was decided in them, and their workflows', () => {
  const run = 'run_0123'
  const held = [
    links.overview,
    links.approvals(),
    links.runs(),
    links.run(run),
    `/runs/${run}/rollback`,
    links.compareRuns(run, 'run_4567'),
    links.workflows,
    links.workflow('sha-1'),
  ]
  for (const path of held) expect(notHeldAt(path), path).toBeUndefined()
})

it('says of everything else why it is not there, and offers nothing that cannot be done', () => {
  expect(notHeldAt(links.breakers())?.title).toBe('A bundle holds no breakers')
  expect(notHeldAt(links.bulkheads)?.title).toBe('A bundle holds no breakers')
  expect(notHeldAt(links.agents())?.title).toBe('A bundle holds no agents')
  expect(notHeldAt(links.settings())?.title).toBe('A bundle has no settings')
  for (const path of [
    links.workflowImport,
    links.workflowPlan(),
    links.workflowRun('sha-1'),
    '/runs/run_0123/fork',
  ])
    expect(notHeldAt(path)?.title, path).toBe('A bundle is only read')
})
