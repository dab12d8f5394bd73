/*
 * Prompts as the configs of states: the template with its fragments in place, the tools it may use, and its parameters,
 * held within what a step can be given. Faults of a prompt are told once, however many states use it.
 */
import type { JsonObject } from '@/lib/base/json'
import { quoted } from '@/lib/workflow/graph-problem'
import { nearestName } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import { own, type Pack, type PackPrompt, type PackVariable } from './pack'
import {
  type FragmentFault,
  fragmentExpander,
  maxFragmentDepth,
  namesIn,
  type TemplateNames,
} from './templates'

export interface ReadPrompt {
  key: string
  /** Members of a state's config that the prompt gives. */
  config: JsonObject
  names: TemplateNames
  variables: PackVariable[]
  tools: string[]
}

/** Reads prompts when they are first asked for; undefined for a name that no prompt has. */
export function promptReader(pack: Pack, tell: Tell): (key: string) => ReadPrompt | undefined {
  const known = new Map<string, ReadPrompt>()
  const expand = fragmentExpander(new Map(Object.entries(pack.fragments ?? {})))
  return (key) => {
    const read = known.get(key)
    if (read) return read
    const prompt = own(pack.prompts, key)
    if (!prompt) return undefined
    const { variables = [] } = prompt
    const { text, faults } = expand(prompt.system_template, new Set(variables.map(({ name }) => name)))
    for (const fault of tell.isFull() ? [] : faults.slice(0, 5)) tellFragment(fault, key, pack, tell)
    const made: ReadPrompt = {
      key,
      config: { prompt: promptLabel(key), template: text, ...settingsOf(key, prompt, tell) },
      names: namesIn(text),
      variables,
      tools: toolsOf(key, prompt, pack, tell),
    }
    tellForeign(made, tell)
    checkVariables(made, tell)
    known.set(key, made)
    return made
  }
}

/** The text, or as much of its beginning as has that length; no character is split. */
export function cutTo(most: number, text: string): string {
  return text.length <= most ? text : text.slice(0, most).replace(/\p{Surrogate}$/u, '')
}

/** A prompt's key as configs can hold it. */
export function promptLabel(key: string): string {
  return cutTo(200, key) || 'prompt'
}

function tellFragment(fault: FragmentFault, key: string, pack: Pack, tell: Tell): void {
  const path = ['prompts', key, 'system_template']
  switch (fault.kind) {
    case 'unknown':
      return tell({
        path: fault.within === undefined ? path : ['fragments', fault.within],
        code: 'unknown_fragment',
        message: `${fault.within === undefined ? `Prompt ${quoted(key)}` : `Fragment ${quoted(fault.within)}`} asks for the fragment ${quoted(fault.name)}, and the pack has none of that name.`,
        mend: didYouMean(
          fault.name,
          Object.keys(pack.fragments ?? {}),
          'Add it under "fragments", or remove the marker.',
        ),
      })
    case 'cycle':
      return tell({
        path: ['fragments', fault.names[0] ?? ''],
        code: 'fragment_cycle',
        message: `Fragments contain each other without end: ${fault.names.slice(0, 12).map(quoted).join(' → ')}.`,
        mend: 'Remove one of the markers.',
      })
    case 'too_deep':
      return tell({
        path: ['fragments', fault.name],
        code: 'fragment_depth',
        message: `Fragments stand inside each other more than ${maxFragmentDepth} deep at ${quoted(fault.name)}.`,
        mend: 'Put less of them into each other.',
      })
    case 'too_long':
      return tell({
        path: fault.name === '' ? path : ['fragments', fault.name],
        code: 'template_too_long',
        message: `${fault.name === '' ? `The template of prompt ${quoted(key)}` : `Fragment ${quoted(fault.name)}`} is longer than 262,144 characters with its fragments in place.`,
        mend: 'Shorten it, or use the fragments less often.',
      })
    default:
      return fault satisfies never
  }
}

function tellForeign({ key, names }: ReadPrompt, tell: Tell): void {
  const [first, ...more] = names.foreign
  if (first === undefined) return
  tell({
    path: ['prompts', key, 'system_template'],
    code: 'template_syntax',
    severity: 'warning',
    message: `Prompt ${quoted(key)} holds ${quoted(`{{${first}}}`)}${more.length > 0 ? ` and ${more.length} more like it` : ''}, which is no name; conditions, loops and filters are not run, and the model sees it as it stands.`,
    mend: 'Write {{name}}, {{artifacts.name}} or {{fragments.name}}.',
  })
}

function checkVariables({ key, variables }: ReadPrompt, tell: Tell): void {
  const seen = new Set<string>()
  for (const [at, { name, required, default: value }] of variables.entries()) {
    const path = ['prompts', key, 'variables', at]
    if (name === '__proto__' || name === 'artifacts' || name === 'fragments')
      tell({
        path: [...path, 'name'],
        code: 'bad_name',
        severity: name === '__proto__' ? 'error' : 'warning',
        message: `Prompt ${quoted(key)} has a variable ${quoted(name)}, which is a name that means something else here.`,
        mend: 'Choose another name.',
      })
    if (seen.has(name))
      tell({
        path: [...path, 'name'],
        code: 'duplicate_variable',
        severity: 'warning',
        message: `Prompt ${quoted(key)} declares the variable ${quoted(name)} twice; the first one counts.`,
        mend: 'Remove one of the two.',
      })
    seen.add(name)
    if (required && value !== undefined)
      tell({
        path: [...path, 'default'],
        code: 'required_default',
        severity: 'warning',
        message: `The variable ${quoted(name)} of prompt ${quoted(key)} is required and has a default, which is never used.`,
        mend: 'Leave out the default, or write "required": false.',
      })
  }
}

/** What a step can be given at most; a pack that asks for more is given this. */
const bounds = { max_rounds: 64, max_tool_calls: 1_000, max_tokens: 1_000_000 } as const

function settingsOf(key: string, { tool_policy = {}, parameters = {} }: PackPrompt, tell: Tell): JsonObject {
  const within = (name: keyof typeof bounds, value: number | null | undefined, path: string[]) => {
    if (typeof value !== 'number') return {}
    const most = bounds[name]
    if (value > most)
      tell({
        path: ['prompts', key, ...path],
        code: 'above_bound',
        severity: 'warning',
        message: `${quoted(path.at(-1) ?? name)} of prompt ${quoted(key)} is ${value.toLocaleString('en-US')}; ${most.toLocaleString('en-US')} is as far as it goes here.`,
        mend: 'Write less, or leave it so.',
      })
    return { [name]: Math.min(value, most) }
  }
  const { temperature, top_p, max_tokens } = parameters
  const { tool_choice, max_rounds, max_tool_calls_per_turn } = tool_policy
  return {
    ...within('max_rounds', max_rounds, ['tool_policy', 'max_rounds']),
    ...within('max_tool_calls', max_tool_calls_per_turn, ['tool_policy', 'max_tool_calls_per_turn']),
    ...(tool_choice === undefined ? {} : { tool_choice }),
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof top_p === 'number' ? { top_p } : {}),
    ...within('max_tokens', max_tokens, ['parameters', 'max_tokens']),
  }
}

/** The tools a prompt may use: those it lists, without those its policy blocks. */
function toolsOf(key: string, { tools = [], tool_policy }: PackPrompt, pack: Pack, tell: Tell): string[] {
  const names = Object.keys(pack.tools ?? {})
  const known = new Set(names)
  const blocked = new Set(tool_policy?.blocklist ?? [])
  for (const [at, name] of tools.entries())
    if (!known.has(name) && !tell.isFull())
      tell({
        path: ['prompts', key, 'tools', at],
        code: 'unknown_tool',
        message: `Prompt ${quoted(key)} may use the tool ${quoted(name)}, and the pack declares none of that name.`,
        mend: didYouMean(name, names, 'Declare it under "tools", or remove it here.'),
      })
  return [...new Set(tools)].filter((name) => known.has(name) && !blocked.has(name))
}

export function didYouMean(written: string, names: readonly string[], otherwise: string): string {
  const nearest = names.length > 500 ? undefined : nearestName(written, names)
  return nearest === undefined ? otherwise : `Did you mean ${quoted(nearest)}?`
}
