import { expect, it } from 'vitest'
import { graphOf } from '@/lib/workflow/graph-fixture'
import { detectFormat, exportWorkflow, readWorkflow } from './format'

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
  ['hello there', 'x.txt', 'unknown'],
])('%j (%s) is %s', (text, filename, format) => {
  expect(detectFormat(text, filename)).toBe(format)
})

it('says of a language it does not read yet which one it is', () => {
  const [diagnostic] = readWorkflow('prompts:\n', 'a.yaml').diagnostics
  expect(diagnostic).toMatchObject({ code: 'format_not_yet', severity: 'error' })
  expect(diagnostic?.message).toBe('This looks like a PromptPack; Holdpoint does not read these yet.')
  expect(readWorkflow('hello there').diagnostics[0]?.code).toBe('format_unknown')
})

it('exports under a safe file name, and only what it can write', () => {
  expect(exportWorkflow(graphOf({ a: {} }, [], { name: '../BGP fail/over' })).filename).toBe(
    'BGP-fail-over.atd.json',
  )
  expect(() => exportWorkflow(graphOf({ a: {} }, [], { format: 'promptpack' }))).toThrow(
    'those cannot be written yet',
  )
})
