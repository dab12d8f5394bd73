/*
 * A tool call of a model: the step of the kind that the tool is bound to, with the call's arguments filled in. The
 * action is that kind's own, so that policy, preview, checkpoint, edit and undo are what they are for any such step.
 *
 * An argument stays one value: it fills a place in a text or is a whole member, it is never expanded again, it becomes
 * neither a part of an address's path that it was not written for, nor an option of a command.
 */
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { renderTemplate, soleKey } from '@/lib/nodes/template'
import { type ToolCallConfig, toolCallConfig } from '@/lib/nodes/tool-call'
import { valueInside } from '@/lib/nodes/values-path'
import { configOf, refusal } from './resolved'
import { type Action, EffectFailed, type Performed, type Resolver, type Runner } from './runner'

type BoundRunner = Resolver & Partial<Runner>

/** The runner of tool calls. `runnerOf` gives the runner of the kind a tool is bound to. */
export function toolCallRunner(runnerOf: (kind: string) => BoundRunner | undefined): Runner {
  const of = (kind: string): BoundRunner => {
    const runner = runnerOf(kind)
    if (runner?.perform) return runner
    throw refusal('tool_unbound', `Nothing performs "${kind}"; bind the tool to another kind.`)
  }
  return {
    async resolve(step) {
      const config = configOf(toolCallConfig, step.node)
      const args = (await step.values.at(config.args_from)) ?? {}
      const node = { ...step.node, kind: config.kind, config: filledConfig(config, args) }
      return of(config.kind).resolve({ ...step, node })
    },

    describe: (action, step, effects) => {
      const { kind, config } = configOf(toolCallConfig, step.node)
      return of(kind).describe(action, { ...step, node: { ...step.node, kind, config } }, effects)
    },

    async perform(action, effects, snapshot): Promise<Performed> {
      const performed = await of(action.kind).perform?.(action, effects, snapshot)
      if (!performed) throw new EffectFailed('tool_unbound', `Nothing performs "${action.kind}"`)
      return performed
    },

    snapshot: async (action, effects, checkpointId) => {
      const taken = await of(action.kind).snapshot?.(action, effects, checkpointId)
      return taken ?? { state: {}, hash: hashJson({}), undo: 'restore' }
    },
    probe: async (action, snapshot, effects) =>
      (await of(action.kind).probe?.(action, snapshot, effects)) ?? 'unknown',
    stateHash: async (action, snapshot, effects) => of(action.kind).stateHash?.(action, snapshot, effects),
    undoPreview: async (action, snapshot, effects) =>
      of(action.kind).undoPreview?.(action, snapshot, effects),
    undo: async (action: Action, snapshot, effects, rollback) => {
      const undone = await of(action.kind).undo?.(action, snapshot, effects, rollback)
      return undone ?? { status: 'escalated', description: `"${action.kind}" cannot be undone` }
    },
  }
}

/** The bound kind's config with the call's arguments in it. */
function filledConfig({ config, args_from }: ToolCallConfig, args: Json): JsonObject {
  const root: JsonObject = { args }
  const fill = (value: Json, member: string, inList: boolean): Json => {
    if (typeof value === 'string') return filledText(value, root, member, inList)
    if (Array.isArray(value)) return value.map((item) => fill(item, member, true))
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, name, false)]))
  }
  return Object.fromEntries(
    Object.entries(config).flatMap(([name, value]): [string, Json][] => {
      if (name.endsWith('_from') && typeof value === 'string') return [[name, argsPath(value, args_from)]]
      // How it is taken back is filled when it is, from what was recorded: `{{request.…}}` and `{{response.…}}`.
      if (name === 'compensate') return [[name, value]]
      const filled = fill(value, name, false)
      return filled === '' && typeof value === 'string' && value !== '' && soleKey(value) !== undefined
        ? []
        : [[name, filled]]
    }),
  )
}

/** `args.path` stands where the call's arguments do. */
function argsPath(path: string, argsFrom: string): string {
  return path === 'args' || path.startsWith('args.') ? argsFrom + path.slice('args'.length) : path
}

function filledText(text: string, root: JsonObject, member: string, inList: boolean): Json {
  const sole = soleKey(text)
  if (sole !== undefined) {
    const value = valueInside(root, sole) ?? ''
    if (inList && member === 'args') return asArgument(value)
    return value
  }
  const encode = member === 'url' ? encodeURIComponent : (part: string) => part
  try {
    return renderTemplate(text, (key) => valueInside(root, key) ?? '', encode).text
  } catch (error) {
    if (isProblem(error, 'too_large')) throw refusal('too_large', `The filled "${member}" is too long.`)
    throw error
  }
}

/** One argument of a command: a text, and none that a program would read as an option. */
function asArgument(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!text.startsWith('-')) return text
  throw refusal(
    'value_wrong',
    'An argument of the call begins with "-", which the command would read as an option.',
  )
}
