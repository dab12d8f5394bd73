import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foreignState, isChangedSince, type OtherStep, type OwnStep } from './changed-since'

const step = (began: number, ended: number, found: string, left: string): OwnStep => ({
  ...{ began, ended, change: { found, left } },
})

describe('a target that changed after a step', () => {
  const first = step(0, 1, 'S0', 'S1')

  it('is as the step left it', () => {
    expect(isChangedSince(first, [], 'S1')).toBe(false)
  })

  it('was changed by somebody else when nothing of the run led there', () => {
    expect(isChangedSince(first, [], 'S2')).toBe(true)
    expect(isChangedSince(first, [step(2, 3, 'S1', 'S2')], 'S9')).toBe(true)
  })

  it('is what later steps of the run made of it, one after the other', () => {
    const later = [step(2, 3, 'S1', 'S2'), step(4, 5, 'S2', 'S3')]
    expect(isChangedSince(first, later, 'S3')).toBe(false)
    expect(isChangedSince(first, later.toReversed(), 'S3'), 'in whatever order they are told').toBe(false)
    expect(isChangedSince(first, later, 'S2'), 'the last one was put back by hand').toBe(false)
  })

  it('was changed in between, although a later step of the run came after that', () => {
    const later = step(4, 5, 'by hand', 'S3')
    expect(isChangedSince(first, [later], 'S3')).toBe(true)
    expect(isChangedSince(later, [first], 'S3'), 'which itself is as it was left').toBe(false)
  })

  it('does not count what the run did before', () => {
    expect(isChangedSince(step(6, 7, 'S1', 'S2'), [first], 'S1')).toBe(true)
  })

  it('follows steps that were at work at the same time, in whatever order they took effect', () => {
    const beside = step(0.5, 3, 'S0', 'S2')
    expect(isChangedSince(first, [beside], 'S2')).toBe(false)
    expect(isChangedSince(first, [step(-1, 2, 'S0', 'S2')], 'S2'), 'sealed before').toBe(false)
    expect(isChangedSince(first, [beside, step(2, 4, 'half', 'S4')], 'S4'), 'and one beside that').toBe(false)
    expect(isChangedSince(first, [beside], 'S9')).toBe(true)
  })

  it('was brought by somebody else to the state it is in, or to the one that the run went on from', () => {
    expect(foreignState(first, [], 'S9')).toBe('S9')
    expect(foreignState(first, [step(2, 3, 'S1', 'S2')], 'S9')).toBe('S9')
    const later = [step(4, 5, 'by hand', 'S3'), step(6, 7, 'S3', 'S4')]
    expect(foreignState(first, later, 'S4')).toBe('by hand')
    expect(foreignState(first, [...later, step(8, 9, 'by hand again', 'S5')], 'S5')).toBe('by hand again')
    expect(
      foreignState(first, [step(2, 3, 'A', 'B'), step(4, 5, 'B', 'A')], 'A'),
      'comes to an end',
    ).toBeDefined()
  })

  it('cannot be told where a later step did not say what it left', () => {
    const silent: OtherStep = { began: 2, ended: 3 }
    expect(isChangedSince(first, [silent], 'S9')).toBeUndefined()
    expect(isChangedSince(first, [{ began: 2 }], 'S9'), 'one still at work').toBeUndefined()
    expect(isChangedSince(first, [silent], 'S1'), 'but it is as it was left').toBe(false)
    expect(isChangedSince(step(4, 5, 'S1', 'S2'), [silent], 'S9'), 'one that was over before').toBe(true)
  })
})

/** A story of one target: the run's own steps, which may overlap, and changes by others. */
interface Told {
  steps: OwnStep[]
  now: string
  /** When others changed it. */
  foreign: number[]
}

/** Plays moments in order: each step seals, takes effect and is over; others change the target in between. */
function play(moments: readonly ('begin' | 'act' | 'end' | 'other')[]): Told {
  const open: { began: number; found: string; left?: string }[] = []
  const steps: OwnStep[] = []
  const foreign: number[] = []
  let now = 'S0'
  let count = 0
  const end = (at: number) => {
    const over = open.findIndex(({ left }) => left !== undefined)
    const [done] = over === -1 ? [] : open.splice(over, 1)
    if (done?.left) steps.push(step(done.began, at, done.found, done.left))
  }
  const act = () => {
    const next = open.findLast(({ left }) => left === undefined)
    if (!next) return
    count += 1
    now = `S${count}`
    next.left = now
  }
  for (const [at, moment] of moments.entries()) {
    if (moment === 'begin') open.push({ began: at, found: now })
    else if (moment === 'act') act()
    else if (moment === 'end') end(at)
    else {
      count += 1
      now = `S${count}`
      foreign.push(at)
    }
  }
  for (let at = moments.length; open.length > 0; at += 2) {
    if (open.every(({ left }) => left === undefined)) act()
    end(at + 1)
  }
  return { steps, now, foreign }
}

const others = (told: Told, of: OwnStep) => told.steps.filter((one) => one !== of)

describe('stories of one target', () => {
  const own = fc.array(fc.constantFrom('begin' as const, 'act' as const, 'end' as const), { maxLength: 40 })

  it('never raise an alarm where only the run itself changed it', () => {
    fc.assert(
      fc.property(own, (moments) => {
        const told = play(moments)
        for (const of of told.steps) expect(isChangedSince(of, others(told, of), told.now)).toBe(false)
      }),
      { numRuns: 2000 },
    )
  })

  it('always raise one where somebody else changed it last, and for every step before that', () => {
    fc.assert(
      fc.property(own, (moments) => {
        const told = play([...moments, ...Array(40).fill('act'), ...Array(40).fill('end'), 'other'])
        for (const of of told.steps) {
          expect(isChangedSince(of, others(told, of), told.now)).toBe(true)
          expect(foreignState(of, others(told, of), told.now)).toBe(told.now)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('tell steps apart that came before and after somebody else', () => {
    const one = fc.array(fc.constant(['begin', 'act', 'end'] as const), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(one, one, (before, after) => {
        const told = play([...before.flat(), 'other', ...after.flat()])
        const [when = 0] = told.foreign
        for (const of of told.steps) {
          expect(isChangedSince(of, others(told, of), told.now)).toBe(of.ended < when)
          if (of.ended < when)
            expect(foreignState(of, others(told, of), told.now)).toBe(`S${before.length + 1}`)
        }
      }),
    )
  })
})
