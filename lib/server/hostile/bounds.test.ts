/** Workflows that want too much: more text, more children, more depth, more steps than any run gets. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Budgets } from '../budgets'
import { edge, node, Scene, workflow } from './scene'

let scene: Scene
beforeEach(async () => {
  scene = await Scene.open()
})
afterEach(async () => {
  expect(await scene.close()).toEqual([])
})

async function runsOf(scene: Scene): Promise<string[]> {
  const house = await scene.house()
  const { items } = await house.store.runs.list({}, { limit: 100 })
  return items.map(({ workflowName, status }) => `${workflowName} ${status}`)
}

describe('a run', () => {
  it('whose template renders to 10 MB ends errored, with the bound named', async () => {
    const template = '{{text}}'.repeat(20)
    const text = workflow(
      'go',
      node('go', 'template_render', `template = "${template}"`, 'input_from = "trigger"'),
    )
    const outcome = await scene.served(text, { input: { text: 'x'.repeat(500_000) } })
    expect(outcome).toMatchObject({ status: 'errored', lastNode: 'go', finalValue: null })
    expect(outcome.reason).toMatch(/1 MiB/)
    expect(outcome.reason.length).toBeLessThan(400)
  })

  it('whose template doubles itself at each turn ends errored', async () => {
    const text = workflow(
      'seed',
      [
        node('seed', 'template_render', 'template = "{{text}}"', 'input_from = "trigger"'),
        node(
          'double',
          'template_render',
          `template = "${'{{rendered}}'.repeat(8)}"`,
          'input_from = "double"',
        ),
        edge('seed', 'double'),
        edge('double', 'double', 'max_iterations = 100'),
      ].join(''),
    )
    const first = text.replace('input_from = "double"', 'input_from = "seed"')
    expect((await scene.served(first, { input: { text: 'x'.repeat(200_000) } })).reason).toMatch(/1 MiB/)
  })

  it('whose map gets a longer list than it declared begins no child', async () => {
    await scene.file(
      'authored/child.toml',
      workflow('end', node('end', 'terminate')).replace('hostile', 'child'),
    )
    const text = workflow(
      'go',
      node('go', 'map', 'items_from = "trigger.items"', 'workflow = "child.toml"', 'max_items = 3'),
    )
    const outcome = await scene.served(text, { input: { items: [1, 2, 3, 4] } })
    expect(outcome.status).not.toBe('completed')
    expect(outcome.reason).toMatch(/4.*3|3.*4/)
    expect(await runsOf(scene)).toEqual(['hostile ended'])
  })

  it('that calls itself stops eight runs deep', async () => {
    const text = workflow('go', node('go', 'call', 'workflow = "hostile.toml"'))
    await scene.file('authored/hostile.toml', text)
    const outcome = await scene.served(text)
    expect(JSON.stringify(outcome)).toContain('at most 8 runs may stand in one another')
    expect((await runsOf(scene)).length).toBe(9)
  })

  it('whose branches all call it again gets no more child runs than any run', async () => {
    const branch = '{ workflow = "hostile.toml" }'
    const text = workflow('go', node('go', 'parallel', `branches = [${Array(8).fill(branch).join(', ')}]`))
    await scene.file('authored/hostile.toml', text)
    const house = await scene.house()
    Object.assign(house.reachable, { budgets: new Budgets({ maxChildren: 40 }) })
    const outcome = await scene.served(text)
    expect(JSON.stringify(outcome)).toContain('more than 40 runs')
    const { items } = await house.store.runs.list({}, { limit: 100 })
    expect(items).toHaveLength(41)
  })

  it('whose loop has no end ends when its time is up', async () => {
    const text = workflow(
      'one',
      [
        '[budget]\nmax_run_time_secs = 1\n',
        node('one', 'merge'),
        node('two', 'merge'),
        edge('one', 'two', 'max_iterations = 1000000'),
        edge('two', 'one', 'max_iterations = 1000000'),
      ].join(''),
    )
    const outcome = await scene.served(text)
    expect(outcome).toMatchObject({ status: 'timed_out', finalValue: null })
  })
})
