import { describe, expect, it } from 'vitest'
import { faultOf, sayingOf, toolAnswer, turnTalk } from './agent-transcript'

const said = (text: string) => [{ role: 'assistant', text }]

describe('a step of an agent loop in words', () => {
  it('has the prose around the action apart from it', () => {
    const text = 'I will look first. {"action":"tool","tool":"read_file","args":{"path":"a"}}'
    const action = { tool: 'read_file', node: 'read_file', args: { path: 'a' } }
    expect(sayingOf({ talk: said(text), action })).toEqual({
      does: 'tool',
      thought: 'I will look first.',
      tool: 'read_file',
      args: { path: 'a' },
    })
  })

  it('ends with a result, or with what ran out', () => {
    const talk = said('{"action":"final","result":1}')
    expect(sayingOf({ talk, action: null, outcome: { result: 1 } })).toMatchObject({
      does: 'final',
      result: 1,
    })
    const outcome = { result: null, reason: 'step cap exhausted' }
    expect(sayingOf({ talk, action: null, outcome })).toMatchObject({
      does: 'exhausted',
      why: 'step cap exhausted',
    })
  })

  it('says why an answer was no use, in the words the model was told', () => {
    const talk = [...said('hm'), { role: 'user', text: '{"error":"Your reply was no valid action."}' }]
    expect(sayingOf({ talk, action: null })).toEqual({
      does: 'again',
      thought: 'hm',
      why: 'Your reply was no valid action.',
    })
  })

  it('is nothing for a value that is none, whatever stands in it', () => {
    for (const value of [null, 'x', 3, []]) expect(sayingOf(value)).toBeUndefined()
    expect(sayingOf({ talk: 'no list', action: null })).toMatchObject({ does: 'again' })
  })
})

describe('what a tool gave', () => {
  const done = { status: 'done', output: 'h', since: 0, tookMs: 1 } as const

  it('is a refusal when the tool’s step took its error edge', () => {
    expect(toolAnswer({ error: 'fs.write denied' }, { ...done, label: 'error' }).refused).toBe(
      'fs.write denied',
    )
  })

  it('is an answer even when a member is called error', () => {
    expect(toolAnswer({ error: 'in the page' }, done).refused).toBeUndefined()
  })
})

describe('a turn of a prompt state', () => {
  const ask = { role: 'user', text: 'Take your turn.' }
  const call = (id: string, name: string, args: object) => ({ id, name, args })
  const answer = (text: string, ...uses: object[]) => ({
    role: 'assistant',
    text,
    ...(uses.length > 0 && { uses }),
  })
  const result = (id: string, name: string, text: string, isError?: true) => ({
    role: 'tool',
    id,
    name,
    text,
    isError,
  })
  const talk = [
    ask,
    answer('First the tests.', call('1', 'run_tests', { path: 'test' })),
    result('1', 'run_tests', '{"failed":2}'),
    answer(
      '',
      call('2', 'run_tests', {}),
      call('3', 'workflow__set_artifact', { name: 'report', value: 'two fail' }),
    ),
    result('2', 'run_tests', '{"error":"path is missing"}', true),
    result('3', 'workflow__set_artifact', '"ok"'),
    answer('Done.', call('4', 'workflow__transition', { event: 'TestsFailing' })),
  ]

  it('is read as rounds, each with its calls and what came of them', () => {
    const turn = turnTalk({ talk, rounds: 3, call: null } as never)
    expect(turn?.earlier).toBe(1)
    expect(
      turn?.rounds.map(({ said, uses }) => [said, uses.map(({ name, as, nth }) => `${name} ${as} ${nth}`)]),
    ).toEqual([
      ['First the tests.', ['run_tests tool 0']],
      ['', ['run_tests tool 1', 'workflow__set_artifact artifact 0']],
      ['Done.', ['workflow__transition event 0']],
    ])
    expect(turn?.rounds[0]?.uses[0]).toMatchObject({ result: { failed: 2 }, isError: false })
    const refused = turn?.rounds[1]?.uses[0]
    expect(refused && faultOf(refused)).toBe('path is missing')
    expect(turn?.rounds[2]?.uses[0]).not.toHaveProperty('result')
    expect(turn?.end).toBeUndefined()
  })

  it('tells what belongs to earlier turns, and how it ended', () => {
    const outcome = { event: 'TestsFailing', talk: [...talk, ...talk], rounds: 3 }
    const turn = turnTalk({ talk, rounds: 3, outcome } as never)
    expect(turn?.earlier).toBe(talk.length + 1)
    expect(turn?.rounds).toHaveLength(3)
    expect(turn?.end).toEqual({ event: 'TestsFailing', exhausted: false })
  })

  it('shows what the model was told when it named no event, and takes a stranger value for none', () => {
    const turn = turnTalk({
      talk: [ask, answer('Hm.'), { role: 'user', text: 'End your turn.' }],
      rounds: 1,
    } as never)
    expect(turn?.rounds).toEqual([{ said: 'Hm.', uses: [], told: 'End your turn.' }])
    for (const value of [null, 7, [], { talk: 'no' }, { action: {} }])
      expect(turnTalk(value as never)).toBeUndefined()
    expect(
      turnTalk({ talk: [{ role: 'assistant', uses: [7, null], text: 3 }], rounds: 1 } as never)?.rounds,
    ).toEqual([{ said: '', uses: [] }])
  })
})
