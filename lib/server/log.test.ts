import { describe, expect, it } from 'vitest'
import { Problem } from '@/lib/base/problem'
import { createLog } from './log'

function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  const lines: string[] = []
  write(createLog('info', { write: (line) => void lines.push(line) }))
  return lines.join('')
}

describe('the log', () => {
  it('strikes out secrets by name, wherever a caller left them', () => {
    const secret = 'hunter2-hunter2'
    const text = logged((log) => {
      log.info({ password: secret, token: secret }, 'flat')
      log.info(
        { request: { headers: { cookie: secret, authorization: secret, 'execution-context': secret } } },
        'deep',
      )
      log.info({ person: { name: 'ada', password: secret } }, 'nested')
    })
    expect(text).not.toContain(secret)
    expect(text.match(/\[struck out\]/g)).toHaveLength(6)
    expect(text).toContain('"name":"ada"')
  })

  it('writes an error by its words and code, without a Problem’s data', () => {
    const text = logged((log) =>
      log.error({ err: new Problem('internal', 'It broke.', { input: 'private' }) }, 'Failed'),
    )
    expect(text).toContain('"code":"internal"')
    expect(text).toContain('It broke.')
    expect(text).not.toContain('private')
  })
})
