import { describe, expect, it } from 'vitest'
import { claimName, meaningOf, readClaim, spell, vocabularyTable } from './vocabulary'

describe('the two vocabularies', () => {
  it.each([
    ['workflow_start', 'atd:workflow_start', 'atd:workflow_start'],
    ['workflow_complete', 'atd:workflow_complete', 'atd:workflow_complete'],
    ['checkpoint', 'atd:checkpoint', 'checkpoint'],
    ['error', 'atd:error', 'atd:error'],
    ['circuit_open', 'atd:circuit_open', 'circuit_breaker_open'],
    ['circuit_close', 'atd:circuit_close', 'circuit_breaker_close'],
    ['rollback_request', 'atd:rollback_request', 'rollback_start'],
    ['rollback_result', 'atd:rollback_result', 'rollback_complete'],
    ['cascade_detected', 'cascade_detected', 'cascade_detected'],
    ['task_start', 'hp:task_start', 'hp:task_start'],
  ])('spell %s as %s and %s, and read both', (meaning, atd, cascade) => {
    expect(spell(meaning, 'atd')).toBe(atd)
    expect(spell(meaning, 'cascade')).toBe(cascade)
    expect(meaningOf(atd)).toBe(meaning)
    expect(meaningOf(cascade)).toBe(meaning)
  })

  it('name an undo by what is done', () => {
    expect(spell('rollback_act', 'atd', 'compensate')).toBe('compensate')
    expect(spell('rollback_act', 'cascade', 'remote')).toBe('hp:restore')
    expect(meaningOf('compensate')).toBe('rollback_act')
    expect(meaningOf('hp:restore')).toBe('rollback_act')
  })

  it('answer one undo and a whole rollback with the same act', () => {
    expect(spell('rollback_act_result', 'atd')).toBe('atd:rollback_result')
    expect(spell('rollback_act_result', 'cascade')).toBe('rollback_complete')
  })

  it('know no third spelling', () => {
    for (const act of ['hp:checkpoint', 'atd:task_start', 'hp:', 'hp:__proto__', 'constructor', '']) {
      expect(meaningOf(act)).toBeUndefined()
    }
    expect(spell('constructor', 'atd')).toBe('hp:constructor')
  })

  it('keep one prefix for a claim only one draft names', () => {
    expect(claimName('ttl', 'atd')).toBe('atd.ttl')
    expect(claimName('ttl', 'cascade')).toBe('cascade.ttl')
    expect(claimName('severity', 'cascade')).toBe('atd.severity')
    expect(claimName('state_hash_before', 'atd')).toBe('cascade.state_hash_before')
    expect(claimName('node', 'cascade')).toBe('hp.node')
  })

  it('read a claim in either spelling, and only where a draft names it', () => {
    for (const name of Object.keys(vocabularyTable.claims)) {
      for (const vocabulary of ['atd', 'cascade'] as const) {
        expect(readClaim({ [claimName(name, vocabulary)]: 7 }, name)).toBe(7)
      }
    }
    expect(readClaim({ 'hp.node': 'n1' }, 'node')).toBe('n1')
    expect(readClaim({ 'atd.node': 'n1' }, 'node')).toBeUndefined()
    expect(readClaim({ 'atd.reversible': false }, 'reversible')).toBe(false)
    expect(readClaim(undefined, 'node')).toBeUndefined()
  })
})
