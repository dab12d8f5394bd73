import { describe, expect, it } from 'vitest'
import { workflowsLedTo } from './workflows-led-to'

const row = (index: number, version: string) => ({
  version,
  parent: { run: 'run_1', node: 'n', visit: 1, index },
})

describe('the workflows a step leads to', () => {
  it('is the one that a call or a map names, with its version once a run of it is there', () => {
    const config = { workflow: 'workflows/enrich.toml' }
    expect(workflowsLedTo({ kind: 'call', config }, [])).toEqual([{ name: 'workflows/enrich.toml' }])
    expect(workflowsLedTo({ kind: 'map', config }, [row(4, 'v1')])).toEqual([
      { name: 'workflows/enrich.toml', version: 'v1' },
    ])
  })

  it('are those of the branches, each once, whichever began first', () => {
    const config = { branches: [{ workflow: 'a' }, { workflow: 'b' }, { workflow: 'a' }] }
    expect(workflowsLedTo({ kind: 'parallel', config }, [row(1, 'vb'), row(0, 'va')])).toEqual([
      { name: 'a', version: 'va' },
      { name: 'b', version: 'vb' },
    ])
  })

  it('is none of a step that begins no named workflow', () => {
    expect(workflowsLedTo({ kind: 'agent_loop', config: { workflow: 'x' } }, [])).toEqual([])
    expect(workflowsLedTo({ kind: 'parallel', config: {} }, [])).toEqual([])
  })
})
