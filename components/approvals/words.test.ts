import { describe, expect, it } from 'vitest'
import type { Verdict } from '@/lib/hitl/terms'
import {
  askOf,
  becauseOf,
  cameOf,
  decidedWords,
  headlineOf,
  overwriteName,
  stepOnTarget,
  verdictWords,
  wordsOf,
} from './words'

describe('the step a question is about', () => {
  it('is named with what it acts on, and without it where nobody knows that', () => {
    expect(stepOnTarget({ label: 'Move traffic', target: 'edge-router-07' })).toBe(
      '“Move traffic” on edge-router-07',
    )
    expect(stepOnTarget({ label: 'append', target: '' })).toBe('“append”')
  })
})

describe('the answers to a rollback that cannot be whole', () => {
  const cannot = (agent: string, here = false, label = agent) => ({
    node: label,
    visit: 1,
    label,
    agent: `spiffe://lab/agent/${agent}`,
    here,
    description: '',
  })
  const card = (...those: ReturnType<typeof cannot>[]) => ({
    label: 'Move traffic',
    kind: 'rollback_unprepared' as const,
    about: {
      what: 'rollback' as const,
      rollback: 'rb_1',
      scope: 'sub_dag' as const,
      node: 'n',
      label: 'Move traffic',
      by: 'person:ada',
      reason: '',
      askedAt: 0,
      cannot: those,
      can: 2,
      of: 3,
      critical: [],
      now: { phase: 'asking' as const, status: 'executing' as const },
    },
  })
  const without = (...those: ReturnType<typeof cannot>[]) => verdictWords.go_on_without.button(card(...those))

  it('say that a run which had ended stays so when its rollback is called off', () => {
    const { about, kind } = card(cannot('mailer'))
    expect(askOf('abort', { kind, about })?.help).toBe(
      'Nothing is taken back. The run stands still, and you choose whether it ends or goes on.',
    )
    expect(askOf('abort', { kind, about: { ...about, hadEnded: true } })?.help).toBe(
      'Nothing is taken back. The run stays ended.',
    )
  })

  it('name whom it would go on without', () => {
    expect(without(cannot('mailer'))).toBe('Go on without mailer')
    expect(without(cannot('mailer'), cannot('mailer'))).toBe('Go on without mailer')
    expect(verdictWords.ask_again.button(card(cannot('mailer')))).toBe('Ask mailer again')
    expect(without(cannot('holdpoint', true, 'Write the file'))).toBe('Go on without “Write the file”')
    // More names than one, or a long one, stand above the buttons and not on them.
    expect(without(cannot('mailer'), cannot('billing'))).toBe('Go on without them')
    expect(verdictWords.ask_again.button(card(cannot('a'), cannot('b')))).toBe('Ask them again')
    expect(without(cannot('holdpoint', true, 'Write the configuration of every router'))).toBe(
      'Go on without them',
    )
    expect(verdictWords.abort.button(card(cannot('mailer')))).toBe('Call it off')
    expect(verdictWords.escalate.button(card(cannot('mailer')))).toBe('Hand it on')
    const changed = { ...cannot('mailer'), changed: true as const }
    expect(verdictWords.overwrite.button(card(cannot('billing'), changed))).toBe(overwriteName(1))
    expect(verdictWords.overwrite.button(card(changed, changed))).toBe('Put them back all the same')
    expect(askOf('overwrite', card(changed))).toMatchObject({ isNeeded: true })
  })
})

it('has one name for each answer to a critical step in the way of a rollback', () => {
  const kind = 'rollback_critical'
  const name = (verdict: Verdict) => wordsOf(verdict, { kind }).button({ label: 'Charge', kind })
  const told = (verdict: Verdict) => decidedWords({ kind, verdict, by: 'person:grace' })
  expect([name('approve'), told('approve')]).toEqual([
    'Let the rollback go on',
    'grace let the rollback go on',
  ])
  expect([name('refuse'), told('refuse')]).toEqual(['Call it off', 'grace called off the rollback'])
  expect(wordsOf('approve', { kind: 'approval' }).button({ label: 'Charge' })).toBe('Approve “Charge”')
  expect(askOf('refuse', { kind })?.help).toContain('Nothing is taken back')
  expect(askOf('refuse', { kind: 'approval' })?.help).toContain('The step does not run')
})

it('tells of a question about a downstream that is over what was held, and not that it is', () => {
  const sentence = '3 breakers on b opened within a minute; its probes are held until you decide'
  const row = { kind: 'circuit' as const, state: 'open' as const, sentence }
  expect(headlineOf(row)).toBe(sentence)
  expect(headlineOf({ ...row, state: 'decided', by: 'person:ada' })).toBe(
    '3 breakers on b opened within a minute; its probes were held until ada decided',
  )
  const failed = 'The probe of b failed: it gave 503; no other goes until you decide'
  expect(headlineOf({ ...row, state: 'void', sentence: failed })).toBe(
    'The probe of b failed: it gave 503; its probes were held',
  )
})

it('tells why a question about a downstream that is over was asked in the past, too', () => {
  const reason = '3 workflows stand before open breakers; probes are held until a person decides'
  const row = { kind: 'circuit' as const, state: 'open' as const, sentence: '', reason }
  expect(becauseOf(row)).toBe(reason)
  const over = { ...row, state: 'decided' as const, by: 'person:ada' }
  expect(becauseOf(over)).toBe('3 workflows stand before open breakers; probes were held until ada decided')
  const failed = 'The probe that was let go failed; the others are held until a person decides'
  expect(becauseOf({ ...over, reason: failed })).toBe(
    'The probe that was let go failed; the others were held until ada decided',
  )
  expect(becauseOf({ ...over, reason: '' })).toBe('Probes were held until ada decided.')
  expect(becauseOf({ ...row, state: 'void', reason: '' })).toBe('Probes were held.')
})

it('wears green only for what was let happen, and not for what is set going', () => {
  expect(cameOf('approve')).toBe('done')
  for (const verdict of ['release', 'ask_again'] as const) expect(cameOf(verdict)).toBe('pending')
  for (const verdict of ['refuse', 'hold', 'abort', undefined] as const)
    expect(cameOf(verdict)).toBe('skipped')
})
