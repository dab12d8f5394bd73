import path from 'node:path'
import { expect, it } from 'vitest'
import { exportWorkflow, readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'
import { formFields, readInput } from '@/lib/workflow/input-form'
import { readStoryWorkflows, storyRuns, storyWorkflows } from '../lab/story'

const texts = await readStoryWorkflows(path.resolve(import.meta.dirname))

it.each(texts)(
  '$filename is read without a word of complaint and written as it was',
  ({ filename, text }) => {
    const { graph, diagnostics, mediaType } = readWorkflow(text, filename, nodeKind)
    expect(diagnostics).toEqual([])
    expect(mediaType).toBe('application/atd-workflow+json')
    const written = graph ? exportWorkflow(graph).text : ''
    // Equal as text of one line: members and their order, not where a formatter breaks a list.
    expect(JSON.stringify(JSON.parse(written))).toBe(JSON.stringify(JSON.parse(text)))
  },
)

it('the story starts runs of these workflows with inputs that fit', () => {
  const graphs = texts.map(({ text, filename }) => readWorkflow(text, filename, nodeKind).graph)
  expect(texts.map(({ filename }) => filename)).toEqual([...storyWorkflows])
  for (const { workflow, input } of storyRuns) {
    const graph = graphs.find((candidate) => candidate?.name === workflow)
    expect(graph).toBeDefined()
    if (graph) expect(readInput(graph, formFields(graph), input)).toEqual(input)
  }
})

it('the lab workflow asks for nothing, the note for three things', () => {
  const names = (filename: string) => {
    const text = texts.find((entry) => entry.filename === filename)?.text ?? ''
    const { graph } = readWorkflow(text, filename, nodeKind)
    return graph && formFields(graph).map((field) => field.name)
  }
  expect(names('bgp-failover-lab.atd.json')).toEqual([])
  expect(names('config-note.atd.json')).toEqual(['device', 'change', 'path'])
})
