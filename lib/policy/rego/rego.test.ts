import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json } from '@/lib/base/json'
import { compileRego, RegoFailed, RegoRefused } from './rego'

const source = (text: string) => [{ name: 'policy.rego', text: `package agent\n\n${text}` }]

function ask(text: string, input?: Json, data: Json = {}, query = 'data.agent.p'): Json | undefined {
  return compileRego(source(text), { query }).evaluate(input, data, 0)
}

function refusals(text: string): { code: string; line: number; message: string }[] {
  try {
    compileRego(source(text))
  } catch (cause) {
    if (cause instanceof RegoRefused) return cause.diagnostics
    throw cause
  }
  return []
}

function failure(text: string, input?: Json): string | undefined {
  try {
    ask(text, input)
  } catch (cause) {
    if (cause instanceof RegoFailed) return cause.code
    throw cause
  }
  return undefined
}

describe('a policy for tool calls', () => {
  const text = `
default allow := false

allow if {
	input.tool == "write_file"
	some root in data.roots
	startswith(input.path, root)
	not forbidden
}

allow if {
	input.tool == "http_request"
	net.cidr_contains("10.0.0.0/8", input.address)
}

forbidden if endswith(input.path, ".key")

reasons contains sprintf("%s may not touch %s", [input.user, input.path]) if forbidden
`
  const policy = compileRego(source(text), { query: 'data.agent.allow' })
  const data = { roots: ['/srv/a/', '/srv/b/'] }

  it('allows what a clause allows', () => {
    expect(policy.evaluate({ tool: 'write_file', path: '/srv/b/x' }, data, 0)).toBe(true)
    expect(policy.evaluate({ tool: 'http_request', address: '10.1.2.3' }, data, 0)).toBe(true)
  })

  it('says no by default', () => {
    expect(policy.evaluate({ tool: 'write_file', path: '/srv/b/x.key' }, data, 0)).toBe(false)
    expect(policy.evaluate({ tool: 'write_file', path: '/etc/passwd' }, data, 0)).toBe(false)
    expect(policy.evaluate(undefined, {}, 0)).toBe(false)
  })

  it('says which clauses were tried', () => {
    const { value, tried } = policy.explain({ tool: 'write_file', path: '/srv/a/x' }, data, 0)
    expect(value).toBe(true)
    expect(tried).toEqual([
      { rule: 'allow', source: 'policy.rego', line: 6, holds: true },
      { rule: 'allow', source: 'policy.rego', line: 13, holds: false },
    ])
  })

  it('gives the reasons as a set', () => {
    const reasons = compileRego(source(text), { query: 'data.agent.reasons' })
    expect(reasons.evaluate({ user: 'ann', path: '/a.key' }, data, 0)).toEqual(['ann may not touch /a.key'])
    expect(reasons.evaluate({ user: 'ann', path: '/a' }, data, 0)).toEqual([])
  })
})

describe('rules', () => {
  it.each<[string, string, Json | undefined, Json | undefined]>([
    [
      'an else follows what did not hold',
      'p := 1 if input.a\nelse := 2 if input.b\nelse := 3',
      { b: true },
      2,
    ],
    ['a value that is false is a value', 'p := false', undefined, false],
    ['nothing holds: undefined', 'p if input.x > 1', { x: 1 }, undefined],
    ['a set has each member once', 'p contains x if some x in input.xs', { xs: [2, 1, 2] }, [1, 2]],
    [
      'an object is made key by key',
      'p[k] := v + 1 if some k, v in input.o',
      { o: { a: 1, b: 2 } },
      { a: 2, b: 3 },
    ],
    [
      'names may have several parts',
      'p.a.b := 1\np.a.c contains 2\np.f(x) := x',
      undefined,
      { a: { b: 1, c: [2] } },
    ],
    [
      'functions choose by pattern',
      'f("a", _) := 1\nf("b", [x, _]) := x\np := [f("a", 0), f("b", [7, 8])]',
      undefined,
      [1, 7],
    ],
    ['every needs all', 'p if every k, v in input.o { k != "x"; v > 0 }', { o: { a: 1, b: 2 } }, true],
    ['every fails on one', 'p if every v in input.o { v > 1 }', { o: { a: 1, b: 2 } }, undefined],
    ['every holds for none', 'p if every v in [] { v > 1 }', undefined, true],
    [
      'comprehensions see outer names',
      'p := [y | some x in [1, 2]; y := {z | z := x + input.n}]',
      { n: 1 },
      [[2], [3]],
    ],
    [
      'unification goes both ways',
      'p := [a, b, c] if { [a, [b, 2]] = [1, [c, 2]]; c = 4 }',
      undefined,
      [1, 4, 4],
    ],
    [
      'statements may come in any order',
      'p := y if { y == z; z = input.a + 1; y = input.b }',
      { a: 1, b: 2 },
      2,
    ],
    ['not is true of what is undefined', 'p if not input.x == 1', {}, true],
    [
      'not with an undefined operand of a function is undefined',
      'p if not startswith(input.x, "a")',
      {},
      undefined,
    ],
    [
      'with replaces input for one statement',
      'q := input.a\np := [q, r] if r := q with input.a as 2',
      { a: 1 },
      [1, 2],
    ],
    ['with replaces what a rule makes', 'q := 1\np := r if r := q with data.agent.q as 5', undefined, 5],
    [
      'sets and arrays are not the same',
      'p := [{1} == [1], {1, 2} == {2, 1}, type_name({1})]',
      undefined,
      [false, true, 'set'],
    ],
    [
      'set() is the empty set and {} an object',
      'p := [type_name(set()), type_name({})]',
      undefined,
      ['set', 'object'],
    ],
    ['set operators', 'p := [{1, 2} | {3}, {1, 2} & {2}, {1, 2} - {2}]', undefined, [[1, 2, 3], [2], [1]]],
  ])('%s', (_what, text, input, wanted) => {
    expect(ask(text, input)).toEqual(wanted)
  })

  it('fails where a rule has two values', () => {
    expect(failure('p := 1\np := 2')).toBe('eval_conflict_error')
    expect(failure('p[k] := v if some v, k in ["a", "a"]')).toBe('eval_conflict_error')
    expect(failure('f(x) := 1\nf(x) := 2\np := f(0)')).toBe('eval_conflict_error')
    expect(failure('p := {k: v | some v, k in ["a", "a"]}')).toBe('eval_conflict_error')
  })

  it('leaves a call undefined whose function could not answer', () => {
    expect(ask('default p := "none"\np := 1 / input.zero', { zero: 0 })).toBe('none')
    expect(ask('default p := "none"\np := to_number(input.x)', { x: 'seven' })).toBe('none')
  })
})

describe('what is refused at load', () => {
  it.each([
    ['p if x > 1', 'rego_unsafe_var_error', 'x is unsafe'],
    ['p if { not x == 1 }', 'rego_unsafe_var_error', 'x is unsafe'],
    ['p if q\nq if p', 'rego_recursion_error', 'depends on itself'],
    ['p if nobody(1)', 'rego_type_error', 'nobody is not a function that is known here'],
    ['f(x) := x\np := f(1, 2, 3)', 'rego_type_error', 'f takes 1 arguments and has 3'],
    ['p := count(1, 2, 3)', 'rego_type_error', 'count takes 1 arguments and has 3'],
    ['p if startswith(1, "a")', 'rego_type_error', 'startswith takes string as argument 1, which is number'],
    ['p if http.send({"url": input.u})', 'rego_type_error', 'http.send is not a function'],
    ['p { true }', 'rego_parse_error', 'if is required'],
    ['p[x] { x := 1 }', 'rego_parse_error', 'if is required'],
    ['p := $"a {input.x}"', 'rego_unsupported', 'Template strings'],
    ['default p := input.x', 'rego_parse_error', 'must be a constant'],
    ['default p := 1\ndefault p := 2', 'rego_type_error', 'more than one default'],
    ['p := 1\np contains 2', 'rego_type_error', 'do not go together'],
    ['p := 1\np.q := 2', 'rego_type_error', 'conflicts with the rule'],
    ['p if { x := 1; x := 2 }', 'rego_compile_error', 'x is assigned above'],
    ['p if { some x; true }', 'rego_compile_error', 'some declares x, which nothing uses'],
    [
      'p if regex.match("(a)\\\\1", input.x)\nq := 1 +',
      'rego_parse_error',
      'stands where a term is expected',
    ],
    ['p if true with count as 1', 'rego_unsupported', 'with can replace input and data'],
    ['f(x) := x\np := f', 'rego_type_error', 'can only be called'],
    ['import future.keywords.not\np if true', 'rego_parse_error', 'is not known'],
    ['p := sprintf("%z", [1])', 'rego_unsupported', 'sprintf with %z'],
    ['plus(a, b) := 7', 'rego_unsupported', 'names an operator'],
  ])('%j', (text, code, words) => {
    const found = refusals(text)
    expect(found.map((one) => one.code)).toContain(code)
    expect(found.map((one) => one.message).join('\n')).toContain(words)
  })

  it('tells all of them, each with its place', () => {
    const found = refusals('p if x > 1\n\nq := )\n\nr { true }')
    expect(found.map(({ code, line }) => [code, line])).toEqual([
      ['rego_parse_error', 5],
      ['rego_parse_error', 7],
    ])
    expect(refusals('p if x > 1\nq if y > 1').map(({ line }) => line)).toEqual([3, 4])
  })

  it('shows what stands where, in the words of the source', () => {
    expect(() => compileRego([{ name: 'a.rego', text: 'package a\np := [1, 2' }])).toThrow(
      'a.rego:2:11: The end of the source stands where ] is expected',
    )
  })
})

describe('what it will not answer while it runs', () => {
  it.each([
    ['a known result that would choose among clauses', 'f(x) if x == 1\nelse := false\np if f(1, false)'],
    ['a replacement that depends on where it starts', 'p := regex.replace("aaa", "^a", "")'],
    ['an object written with one key twice', 'x := 1\np := {x: 1, 1: 2}'],
    ['bytes that are no text', 'p := hex.decode("ff")'],
    ['a zone that is not UTC', 'p := time.date([0, "Europe/Berlin"])'],
    ['a number spelled as JSON does not', 'p := to_number("0x10")'],
  ])('%s', (_what, text) => {
    expect(failure(text)).toBe('eval_unsupported')
  })
})

describe('bounds', () => {
  it('stops a search that goes on and on', () => {
    const text = 'xs := numbers.range(1, 1000)\np := count([1 | xs[_]; xs[_]; xs[_]; xs[_]])'
    expect(failure(text)).toBe('eval_bound')
  })

  it('takes deep input and deep source for what they are', () => {
    const deep = JSON.parse(`${'['.repeat(2_000)}${']'.repeat(2_000)}`) as Json
    expect(failure('p := input', deep)).toBe('eval_bound')
    expect(refusals(`p := ${'['.repeat(5_000)}${']'.repeat(5_000)}`).map((one) => one.code)).toEqual([
      'rego_unsupported',
    ])
    expect(refusals(`p := ${'('.repeat(5_000)}`).length).toBe(1)
  })

  it('does not wait for a pattern that backtracking would never finish', () => {
    expect(ask('p := regex.match(`^(a+)+$`, input)', `${'a'.repeat(5_000)}!`)).toBe(false)
    expect(ask('p := glob.match("*a*a*a*a*a*b", null, input)', 'a'.repeat(5_000))).toBe(false)
  })

  it('does not write out a value that shares its parts without end', () => {
    const rules = Array.from({ length: 60 }, (_, i) => `x${i + 1} := [x${i}, x${i}]`)
    expect(failure(`x0 := [1]\n${rules.join('\n')}\np := json.marshal(x60)`)).toBe('eval_bound')
    expect(failure(`p := [1 | x := numbers.range(1, 100000000)]`)).toBe('eval_bound')
  })

  it('will not round an integer that an answer cannot hold', () => {
    expect(ask('p := 9007199254740993 == 9007199254740992')).toBe(false)
    expect(failure('p := 9007199254740992 + 1')).toBe('eval_unsupported')
    expect(ask('p := sprintf("%d", [9007199254740992 + 1])')).toBe('9007199254740993')
  })
})

describe('queries', () => {
  it('give each way to hold with its variables', () => {
    const policy = compileRego(source('xs := [1, 2]'), { query: 'some i; y := data.agent.xs[i]; y > input' })
    expect(policy.query(0, {}, 0)).toEqual([
      { i: 0, y: 1 },
      { i: 1, y: 2 },
    ])
    expect(policy.evaluate(1, {}, 0)).toBe(true)
    expect(policy.evaluate(2, {}, 0)).toBeUndefined()
  })

  it('merge rules into the documents around them', () => {
    expect(ask('q := 1', undefined, { agent: { base: 2 } }, 'data.agent')).toEqual({ base: 2, q: 1 })
  })

  it('take the moment from the caller', () => {
    const policy = compileRego(source('p := time.date(time.now_ns())'), { query: 'data.agent.p' })
    expect(policy.evaluate(undefined, {}, Date.UTC(2026, 10, 21))).toEqual([2026, 11, 21])
  })
})

describe('laws', () => {
  const policy = (text: string) => compileRego(source(text), { query: 'data.agent.p' })
  const numbers = fc.array(fc.integer({ min: -9, max: 9 }))

  it('json.unmarshal takes back what json.marshal gave', () => {
    const back = policy('p if json.unmarshal(json.marshal(input)) == input')
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(back.evaluate(value as Json, {}, 0)).toBe(true)
      }),
    )
  })

  it('sets obey the laws of sets', () => {
    const law = policy(`
s(xs) := {x | some x in xs}
p if {
	[a, b, c] := [s(input.a), s(input.b), s(input.c)]
	a & (b | c) == (a & b) | (a & c)
	a - (b | c) == (a - b) & (a - c)
	count(a) + count(b) == count(a | b) + count(a & b)
}`)
    fc.assert(
      fc.property(numbers, numbers, numbers, (a, b, c) => {
        expect(law.evaluate({ a, b, c }, {}, 0)).toBe(true)
      }),
    )
  })

  it('sprintf writes an integer as it is', () => {
    const text = policy('p := sprintf("%d|%v|%x", [input, input, abs(input)])')
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        expect(text.evaluate(n, {}, 0)).toBe(`${n}|${n}|${Math.abs(n).toString(16)}`)
      }),
    )
  })

  it('order is one order, whatever is compared', () => {
    const sorted = policy('p := sort(input)')
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 6 }), (values) => {
        const once = sorted.evaluate(values as Json, {}, 0) as Json[]
        expect(sorted.evaluate([...once].reverse(), {}, 0)).toEqual(once)
      }),
    )
  })

  it('adding integers is exact', () => {
    const same = policy('p := sprintf("%v", [input.a + input.b * input.a])')
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), (a, b) => {
        expect(same.evaluate({ a, b }, {}, 0)).toBe(`${BigInt(a) + BigInt(b) * BigInt(a)}`)
      }),
    )
  })

  it('never throws anything but its own errors, whatever the source', () => {
    const words =
      'p q x := = == if else not some every in { } [ ] ( ) | , . : ; 1 "a" input data contains with as default + - _ set()'.split(
        ' ',
      )
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...words, '\n'), { maxLength: 30 }), (pieces) => {
        try {
          compileRego(source(pieces.join(' ')), { query: 'data.agent' }).evaluate({}, {}, 0)
        } catch (cause) {
          expect(cause instanceof RegoRefused || cause instanceof RegoFailed, String(cause)).toBe(true)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
