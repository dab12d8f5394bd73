import { describe, expect, test } from 'vitest'
import { policyLines } from './policy-words'

const empty = {
  fs: { read: [], write: [], delete: [], list: [] },
  env: { readKeys: [] },
  http: { urls: [], methods: [] },
  shell: { commands: [] },
  mcp: { servers: [], tools: [], resources: [] },
}
const silent = { roots: [], privateTargets: [] }

describe('policyLines', () => {
  test('names what is allowed, and says that all else is denied', () => {
    const allow = {
      ...empty,
      fs: { ...empty.fs, read: ['/docs/**'] },
      http: { urls: ['https://a/*'], methods: ['GET'] },
    }
    const rego = { text: '', data: {}, query: 'data.agent.allow' }
    expect(policyLines({ format: 'agentd', policy: { ...silent, allow, rego } })).toEqual([
      { label: 'Reads', rules: ['/docs/**'] },
      { label: 'Lists', rules: ['/docs/**'] },
      { label: 'URLs', rules: ['https://a/*'], words: 'by GET' },
      {
        label: 'Denied',
        rules: [],
        words: 'All else, which is any of writes, deletes, variables, commands, MCP tools, MCP data too.',
      },
      { label: 'And Rego', rules: ['data.agent.allow'], words: 'must be true' },
    ])
    expect(policyLines({ format: 'agentd', policy: { ...silent, allow: empty } })).toEqual([
      { label: 'Denied', rules: [], words: 'Everything.' },
    ])
  })

  test('says what an absent policy means, by format', () => {
    expect(policyLines({ format: 'agentd', policy: silent })[0]?.words).toContain('states no policy')
    expect(policyLines({ format: 'atd', policy: silent })).toEqual([
      { label: 'Folders', rules: [], words: 'None.' },
      { label: 'Reaches', rules: [], words: 'Public addresses.' },
    ])
  })
})
