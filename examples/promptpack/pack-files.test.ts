import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { exportWorkflow, readWorkflow } from '@/lib/formats/format'
import { nodeKind } from '@/lib/nodes/registry'

const folder = path.resolve(import.meta.dirname)
const files = readdirSync(folder).filter((name) => name.includes('.pack.'))

it('are the five of the RFC', () => {
  expect(files).toHaveLength(5)
})

it.each(files)('%s is accepted, and is the same workflow when it was written and read again', (name) => {
  const text = readFileSync(path.join(folder, name), 'utf8')
  const { graph, diagnostics, mediaType } = readWorkflow(text, name, nodeKind)
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(diagnostics.map(({ message }) => message)).toContain('PromptPack 1.4.0 and 1.5.0 accept this pack.')
  const written = graph && exportWorkflow(graph, mediaType)
  expect(readWorkflow(written?.text ?? '', name, nodeKind).graph).toEqual(graph)
})
