import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Silence } from '@/lib/workflow/graph'
import { silenceOf, silenceWords, type Unanswered } from './silence'
import type { ApprovalKind } from './terms'

const asked: Unanswered = { kind: 'approval', role: 'operator', deadlineAt: 1_000, onSilence: 'hold' }
const kinds: ApprovalKind[] = [
  'approval',
  'outcome_unknown',
  'irreversible_failed',
  'rollback_escalated',
  'rollback_failed',
  'event',
]

describe('silence', () => {
  it('holds by default, before and after the deadline', () => {
    expect(silenceOf(asked, 0)).toEqual({ act: 'hold' })
    expect(silenceOf(asked, 90 * 86_400_000)).toEqual({ act: 'hold' })
    expect(silenceWords(asked)).toBe('it stays held')
  })

  it('does what the author wrote at the deadline, to the millisecond', () => {
    for (const onSilence of ['deny', 'rollback', 'continue'] as const) {
      expect(silenceOf({ ...asked, onSilence }, 999)).toEqual({ act: 'wait', until: 1_000 })
      expect(silenceOf({ ...asked, onSilence }, 1_000)).toEqual({ act: onSilence })
    }
    expect(silenceWords({ ...asked, onSilence: 'deny' })).toBe('it counts as refused')
  })

  it('asks another role, but never the same one again', () => {
    const onSilence = { escalateTo: 'coordinator' }
    expect(silenceOf({ ...asked, onSilence }, 1_000)).toEqual({ act: 'escalate', role: 'coordinator' })
    expect(silenceOf({ ...asked, role: 'coordinator', onSilence }, 1_000)).toEqual({ act: 'hold' })
    expect(silenceWords({ ...asked, onSilence })).toBe('coordinator is asked')
  })

  it('without a deadline there is no silence', () => {
    expect(silenceOf({ ...asked, deadlineAt: undefined, onSilence: 'continue' }, 1e15)).toEqual({
      act: 'hold',
    })
  })

  it('never answers for an unknown outcome or an event from outside, nor ends a stop', () => {
    for (const kind of ['outcome_unknown', 'event', 'rollback_failed'] as const) {
      for (const onSilence of ['deny', 'rollback', 'continue', { escalateTo: 'coordinator' }] as const) {
        expect(silenceOf({ ...asked, kind, onSilence }, 1e15)).toEqual({ act: 'hold' })
      }
    }
  })

  it('approves only where the author wrote `continue`', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.constantFrom<Silence>('hold', 'deny', 'rollback', { escalateTo: 'x' }),
        fc.option(fc.nat(), { nil: undefined }),
        fc.nat(),
        (kind, onSilence, deadlineAt, now) => {
          expect(silenceOf({ kind, role: 'operator', deadlineAt, onSilence }, now).act).not.toBe('continue')
        },
      ),
    )
  })
})
