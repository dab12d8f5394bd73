import { describe, expect, it } from 'vitest'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { declared } from './declared-words'

function graphOf(more: Partial<WorkflowGraph>): WorkflowGraph {
  return { starts: [], budget: {}, extra: {}, ...more } as WorkflowGraph
}

const labels = (lines: { label: string }[]) => lines.map(({ label }) => label)

describe('what a workflow file declares', () => {
  it('is nothing where it declares nothing', () => {
    expect(declared(graphOf({}))).toEqual({ now: [], later: [] })
  })

  it('tells what holds now from what is served later', () => {
    const said = declared(
      graphOf({
        budget: { maxRunS: 120, maxModelTokens: 30_000 },
        backends: [{ name: 'm', provider: 'anthropic', model: 'x-1', apiKeyEnv: 'KEY' }],
        extra: {
          triggers: [{ type: 'cron', schedule: '30 2 * * *', start_node: 'nightly' }],
          http_routes: [{ method: 'POST', path: '/fire', start_node: 'on', auth: 'hmac:alerts' }],
          logging: { audit: { target: 'file:/var/log/a.jsonl' } },
        },
      }),
    )
    expect(labels(said.now)).toEqual(['Limits', 'Models'])
    expect(said.now[1]?.lines).toEqual([{ main: 'm', sub: 'x-1 of anthropic, key from the variable KEY' }])
    expect(labels(said.later)).toEqual(['Triggers', 'Routes', 'Logging'])
    expect(said.later[1]?.lines[0]).toEqual({ main: 'POST /fire', sub: 'for hmac:alerts, starts on' })
  })

  it('never shows a secret, also where the file spells one out', () => {
    const said = declared(
      graphOf({
        secrets: [{ name: 'DSN', from: { file: '/run/secrets/dsn' } }],
        extra: {
          auth: {
            bearer: { ops: { tokens: ['hunter2'] } },
            basic: { twilio: { credentials: ['a:hunter2'] } },
            hmac: { shop: { secret: 'hunter2' }, alerts: { secret_env: 'ALERTS' } },
          },
        },
      }),
    )
    expect(JSON.stringify(said)).not.toContain('hunter2')
    expect(said.later[0]?.lines.map(({ main, sub }) => `${main} ${sub}`)).toEqual([
      'bearer:ops written in the file',
      'basic:twilio written in the file',
      'hmac:shop written in the file',
      'hmac:alerts from the variable ALERTS',
    ])
  })
})
