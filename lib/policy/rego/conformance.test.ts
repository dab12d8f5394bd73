import { describe, expect, it } from 'vitest'
import { type ConformanceCase, runCase } from './conformance'

const base: ConformanceCase = {
  note: 'a set',
  query: 'data.test.p = x',
  modules: ['package test\n\np contains x if some x in input.xs'],
  input: { xs: [3, 1, 3] },
}

describe('judging a published case', () => {
  it('calls the wanted answer right and another wrong', () => {
    expect(runCase({ ...base, want_result: [{ x: [1, 3] }] }).verdict).toBe('right')
    expect(runCase({ ...base, want_result: [{ x: [1, 2] }] })).toEqual({
      verdict: 'wrong',
      why: 'wanted [{"x":[1,2]}], got [{"x":[1,3]}]',
    })
    expect(runCase({ ...base, want_result: [] }).verdict).toBe('wrong')
    expect(runCase({ ...base, want_defined: true }).verdict).toBe('right')
  })

  it('takes input that is more than JSON', () => {
    const one = { ...base, input: undefined, input_term: '{"xs": {1, 3}}', want_result: [{ x: [1, 3] }] }
    expect(runCase(one).verdict).toBe('right')
  })

  it('takes a refusal for what it is', () => {
    const unknown = { ...base, modules: ['package test\n\np := http.send({})'] }
    expect(runCase({ ...unknown, want_result: [{ x: 1 }] }).verdict).toBe('refused')
    expect(runCase({ ...unknown, want_error_code: 'eval_type_error' }).verdict).toBe('refused')
    expect(runCase({ ...unknown, want_error_code: 'rego_type_error' }).verdict).toBe('right')
  })

  it('wants the error that is wanted', () => {
    const conflict = { ...base, modules: ['package test\n\np := 1\n\np := 2'] }
    expect(runCase({ ...conflict, want_error_code: 'eval_conflict_error' }).verdict).toBe('right')
    expect(runCase({ ...conflict, want_result: [{ x: 1 }] }).verdict).toBe('wrong')
    expect(runCase({ ...base, want_error_code: 'eval_conflict_error' }).verdict).toBe('wrong')
    const strict = { ...base, modules: ['package test\n\np := 1 / 0'], want_error_code: 'eval_builtin_error' }
    expect(runCase({ ...strict, strict_error: true }).verdict).toBe('right')
    expect(runCase(strict).verdict).toBe('wrong')
  })
})
