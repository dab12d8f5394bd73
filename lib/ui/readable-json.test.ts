import { describe, expect, it } from 'vitest'
import { readableJson } from './readable-json'

describe('an action as people read it', () => {
  it('writes a member a line and a long text as it is', () => {
    expect(
      readableJson({
        path: 'router.conf',
        content: 'router bgp 64512\n neighbor 10.0.0.2\n',
        mode: 420,
        tags: ['a', { b: true }],
      }),
    ).toBe(
      'path: router.conf\ncontent: |\n  router bgp 64512\n   neighbor 10.0.0.2\nmode: 420\ntags:\n  - a\n  -\n    b: true\n',
    )
  })
})
