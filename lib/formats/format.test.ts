import { expect, it } from 'vitest'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { detectFormat, exportWorkflow, nameHint, readWorkflow } from './format'

it.each([
  ['{"wf_id":"w"}', undefined, 'atd'],
  ['// note\n{"wf_id":"w"}', undefined, 'atd'],
  ['', 'x.json', 'atd'],
  ['{"$schema":"s","prompts":{}}', undefined, 'promptpack'],
  ['prompts:\n  a: 1\n', undefined, 'promptpack'],
  ['anything', 'pack.yaml', 'promptpack'],
  ['[workflow]\nname = "x"\n', undefined, 'agentd'],
  ['[[nodes]]\nid = "x"\n', undefined, 'agentd'],
  ['name = "x"', undefined, 'agentd'],
  ['[1, 2]', undefined, 'atd'],
  ['# A pack\n\n# of prompts\nid: x\n', undefined, 'promptpack'],
  ['%YAML 1.2\n---\nid: x\n', undefined, 'promptpack'],
  ['"id": x\n', undefined, 'promptpack'],
  ['id: x\nnote: |\n  a\nb = 1', undefined, 'promptpack'],
  ['{id: x, template_engine: {}}', undefined, 'promptpack'],
  ['{"template_engine":{},"tools":{"nodes":{}}}', undefined, 'promptpack'],
  ['{"id":"x"}', 'x.pack.json', 'promptpack'],
  ['# agentd\nname = "x"', undefined, 'agentd'],
  ['hello there', 'x.txt', 'unknown'],
])('%j (%s) is %s', (text, filename, format) => {
  expect(detectFormat(text, filename)).toBe(format)
})

it('reads a pack in either of its languages, with or without a file name', () => {
  const pack = {
    id: 'p',
    name: 'P',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: { a: { id: 'a', name: 'A', version: '1.0.0', system_template: 'Say hello.' } },
  }
  const json = readWorkflow(JSON.stringify(pack))
  expect(json).toMatchObject({ format: 'promptpack', mediaType: 'application/promptpack+json' })
  const yaml = exportWorkflow(json.graph as WorkflowGraph, 'application/promptpack+yaml')
  expect(yaml.filename).toBe('p.pack.yaml')
  const again = readWorkflow(`# A note first\n\n${yaml.text}`)
  expect(again).toMatchObject({ format: 'promptpack', mediaType: 'application/promptpack+yaml' })
  expect(again.graph).toEqual(json.graph)
})

it('knows a stored text again by its media type, however it begins', () => {
  const text = '{ id: p, name: P }'
  expect(detectFormat(text)).toBe('atd')
  expect(detectFormat(text, nameHint('application/promptpack+yaml'))).toBe('promptpack')
  expect(nameHint('application/toml')).toBeUndefined()
})

it('says of a text in no language which ones there are', () => {
  expect(readWorkflow('hello there').diagnostics[0]).toMatchObject({
    code: 'format_unknown',
    mend: expect.stringContaining('a PromptPack (YAML or JSON)'),
  })
})

it('exports under a safe file name, and only what it can write', () => {
  expect(exportWorkflow(graphOf({ a: {} }, [], { name: '../BGP fail/over' })).filename).toBe(
    'BGP-fail-over.atd.json',
  )
  expect(() => exportWorkflow(graphOf({ a: {} }, [], { format: 'promptpack' }))).toThrow(
    'cannot be written as a PromptPack',
  )
})
