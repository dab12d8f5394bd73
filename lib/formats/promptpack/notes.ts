import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import type { Pack, PackPrompt } from './pack'

interface Kept {
  code: string
  /** What stands there, in words that begin a sentence. */
  words: string
  /** Where it first stands in a pack. */
  find(pack: Pack): GraphPath | undefined
}

/** What packs can say and Holdpoint does not do. Each is kept as written and named once. */
const kept: readonly Kept[] = [
  { code: 'evals', words: 'Evals are', find: (pack) => top(pack, 'evals') ?? inPrompt(pack, 'evals') },
  { code: 'compositions', words: 'Compositions are', find: (pack) => top(pack, 'compositions') },
  { code: 'skills', words: 'Skills are', find: (pack) => top(pack, 'skills') ?? inState(pack, 'skills') },
  { code: 'media', words: 'Media of prompts are', find: (pack) => inPrompt(pack, 'media') },
  { code: 'validators', words: 'Validators are', find: (pack) => inPrompt(pack, 'validators') },
  {
    code: 'pipeline',
    words: 'Pipelines and their middleware are',
    find: (pack) => inPrompt(pack, 'pipeline'),
  },
  {
    code: 'model_overrides',
    words: 'Overrides by model are',
    find: (pack) => inPrompt(pack, 'model_overrides'),
  },
  { code: 'parameters', words: 'top_k and penalties are', find: otherParameter },
  { code: 'variable_binding', words: 'Bindings of variables are', find: variableBinding },
  { code: 'template_features', words: 'Conditionals, loops and filters in templates are', find: richFeature },
  { code: 'agents', words: 'Agents that are a prompt alone are', find: promptAgent },
]

/** Names everything in a pack that is kept and not executed. */
export function tellKept(pack: Pack, tell: Tell): void {
  for (const { code, words, find } of kept) {
    const path = find(pack)
    if (!path) continue
    tell({
      path,
      what: 'name',
      code: `kept_${code}`,
      severity: 'info',
      message: `${words} kept as written and not executed.`,
      mend: 'Nothing is to be done.',
    })
  }
}

function top(pack: Pack, member: 'evals' | 'compositions' | 'skills'): GraphPath | undefined {
  return pack[member] === undefined ? undefined : [member]
}

function inPrompt(pack: Pack, member: keyof PackPrompt): GraphPath | undefined {
  const [key] = Object.entries(pack.prompts).find(([, prompt]) => prompt[member] !== undefined) ?? []
  return key === undefined ? undefined : ['prompts', key, member]
}

function inState(pack: Pack, member: 'skills'): GraphPath | undefined {
  const [name] =
    Object.entries(pack.workflow?.states ?? {}).find(([, state]) => state[member] !== undefined) ?? []
  return name === undefined ? undefined : ['workflow', 'states', name, member]
}

const passedOn = new Set(['temperature', 'top_p', 'max_tokens'])

function otherParameter({ prompts }: Pack): GraphPath | undefined {
  for (const [key, { parameters = {} }] of Object.entries(prompts)) {
    const other = Object.keys(parameters).find((name) => !passedOn.has(name))
    if (other !== undefined) return ['prompts', key, 'parameters', other]
  }
  return undefined
}

function variableBinding({ prompts }: Pack): GraphPath | undefined {
  for (const [key, { variables = [] }] of Object.entries(prompts)) {
    const at = variables.findIndex(({ binding }) => binding !== undefined)
    if (at >= 0) return ['prompts', key, 'variables', at, 'binding']
  }
  return undefined
}

const done = new Set(['basic_substitution', 'fragments'])

function richFeature({ template_engine: { features = [] } }: Pack): GraphPath | undefined {
  const at = features.findIndex((feature) => !done.has(feature))
  return at < 0 ? undefined : ['template_engine', 'features', at]
}

/** An agent that no run begins with: where there is no workflow, the entry agent is the run. */
function promptAgent({ agents, workflow }: Pack): GraphPath | undefined {
  const [name] =
    Object.entries(agents?.members ?? {}).find(
      ([key, { state }]) => state === undefined && (workflow !== undefined || key !== agents?.entry),
    ) ?? []
  return name === undefined ? undefined : ['agents', 'members', name]
}
