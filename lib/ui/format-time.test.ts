import { describe, expect, it } from 'vitest'
import { age, ago, count, countdown, duration, utcTime } from './format-time'

describe('time in words', () => {
  it('says how long something took', () => {
    expect([40, 999, 3_840, 59_990, 134_000, 6_720_000, 273_600_000].map(duration)).toEqual([
      '40 ms',
      '0.9 s',
      '3.8 s',
      '59.9 s',
      '2 m 14 s',
      '1 h 52 m',
      '3 d 4 h',
    ])
  })
  it('names a moment in UTC', () => {
    expect(utcTime(Date.UTC(2026, 10, 21, 8, 14, 31, 900))).toBe('2026-11-21 08:14:31 UTC')
  })
  it('says how long ago', () => {
    const now = Date.UTC(2026, 10, 21, 9)
    expect([0, 12, 360, 10_800, 172_800].map((s) => ago(now - s * 1000, now))).toEqual([
      'just now',
      '12 s ago',
      '6 min ago',
      '3 h ago',
      '2 d ago',
    ])
    expect(ago(now + 5000, now)).toBe('just now')
  })
  it('counts down to zero and no further', () => {
    expect([48_000, 1_829_000, 6_720_000, -1].map(countdown)).toEqual(['0:48', '30:29', '1:52:00', '0:00'])
  })
  it('gives an age to the tenth while it is young', () => {
    expect([400, 18_200, 123_000].map(age)).toEqual(['0.4 s', '18 s', '2 m 3 s'])
  })
  it('counts with the right word', () => {
    expect([count(1, 'step'), count(3, 'step'), count(1200, 'reply', 'replies')]).toEqual([
      '1 step',
      '3 steps',
      '1,200 replies',
    ])
  })
})
