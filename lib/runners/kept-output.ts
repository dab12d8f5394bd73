/*
 * What a step gave, as a value that can be kept. JSON texts can say two things that no canonical text can (RFC 8785):
 * half a surrogate pair, and a number beyond all numbers, which is read as infinite. Other programs write such texts,
 * and what they write must end a step, not hold it up for ever.
 */
import { isJsonObject, type Json } from '@/lib/base/json'
import { EffectFailed, type Performed, type Runner } from './runner'

/** The value with half characters replaced (U+FFFD); undefined when it holds a number that is infinite or none. */
export function keepable(value: Json): Json | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) {
    const kept = value.map(keepable)
    if (kept.includes(undefined)) return undefined
    return kept.every((item, at) => item === value[at]) ? value : (kept as Json[])
  }
  if (!isJsonObject(value)) return value
  let isSame = true
  const kept: [string, Json][] = []
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const item = keepable(member)
    if (item === undefined) return undefined
    const key = name.isWellFormed() ? name : name.toWellFormed()
    if (item !== member || key !== name) isSame = false
    kept.push([key, item])
  }
  return isSame ? value : Object.fromEntries(kept)
}

/** The runner, whose outputs can be kept. A step whose output cannot be fails; whether it took effect is not known then. */
export function withKeptOutput(runner: Runner): Runner {
  return {
    ...runner,
    async perform(action, effects, snapshot) {
      const performed = await runner.perform(action, effects, snapshot)
      const output = keepable(performed.output)
      const artifacts = performed.artifacts?.map(({ name, value }) => ({ name, value: keepable(value) }))
      if (output !== undefined && !artifacts?.some(({ value }) => value === undefined)) {
        return { ...performed, output, ...(artifacts && { artifacts: artifacts as Performed['artifacts'] }) }
      }
      throw new EffectFailed(
        'value_wrong',
        `The output of ${action.node} holds a number that is too large for a number; nothing of it was kept.`,
        { errorType: 'constraint_violation', outcomeUnknown: action.consequence !== 'read_only' },
      )
    },
  }
}
