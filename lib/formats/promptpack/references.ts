/*
 * What prompts name and tools need, in the states that use them: artifacts that nobody declares, variables that nothing
 * fills, tools that nothing runs. All of it is a warning; the run itself refuses what it cannot do.
 */
import { quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { own, type Pack } from './pack'
import { didYouMean, type ReadPrompt } from './prompts'
import type { ReadPack } from './read-pack'
import type { ReadState } from './states'

/** RFC 0009, validation rule 4, and variables that no prompt declares. */
export function checkNames({ graph, states }: ReadPack, tell: Tell): void {
  const slots = new Map(graph.artifacts.map(({ name }) => [name, '']))
  for (const { name, state } of states)
    for (const slot of Object.keys(state.artifacts ?? {})) if (slots.get(slot) === '') slots.set(slot, name)
  const declared = new Map<string, string>()
  for (const { prompt } of states)
    for (const { name } of prompt?.variables ?? [])
      if (!declared.has(name)) declared.set(name, prompt?.key ?? '')
  // What no state declares, and no prompt, is told once of a prompt, however many states use it.
  const told = new Set<string>()
  for (const state of states) {
    const { prompt } = state
    if (!prompt) continue
    const isFirst = !told.has(prompt.key)
    told.add(prompt.key)
    checkArtifacts(state, prompt, slots, isFirst, tell)
    if (isFirst) checkVariables(state.name, prompt, declared, tell)
  }
}

function checkArtifacts(
  { name, state }: ReadState,
  prompt: ReadPrompt,
  slots: ReadonlyMap<string, string>,
  isFirst: boolean,
  tell: Tell,
): void {
  const mine = state.artifacts ?? {}
  const elsewhere = prompt.names.artifacts.filter((slot) => slots.has(slot) && !Object.hasOwn(mine, slot))
  const unknown = isFirst ? prompt.names.artifacts.filter((slot) => !slots.has(slot)) : []
  for (const slot of unknown) {
    tell({
      path: ['prompts', prompt.key, 'system_template'],
      code: 'artifact_unknown',
      severity: 'warning',
      message: `Prompt ${quoted(prompt.key)} of state ${quoted(name)} names the artifact ${quoted(slot)}, which no state declares; it stays empty.`,
      mend: didYouMean(slot, [...slots.keys()], 'Declare it under "artifacts" of the state that writes it.'),
    })
  }
  if (elsewhere.length === 0) return
  const shown = elsewhere.slice(0, 5).map((slot) => `${quoted(slot)} (of ${quoted(slots.get(slot) ?? '')})`)
  tell({
    path: ['workflow', 'states', name],
    what: 'name',
    code: 'artifact_not_declared',
    severity: 'warning',
    message: `State ${quoted(name)} does not declare ${elsewhere.length === 1 ? 'an artifact' : 'artifacts'} that its prompt ${quoted(prompt.key)} names: ${shown.join(', ')}${elsewhere.length > 5 ? `, and ${elsewhere.length - 5} more` : ''}. What is written there is seen all the same.`,
    mend: 'Declare it on this state too, so that a reader knows what it rests on.',
  })
}

function checkVariables(
  name: string,
  prompt: ReadPrompt,
  declared: ReadonlyMap<string, string>,
  tell: Tell,
): void {
  const mine = new Set(prompt.variables.map((variable) => variable.name))
  for (const variable of prompt.names.variables) {
    if (mine.has(variable)) continue
    const other = declared.get(variable)
    tell({
      path: ['prompts', prompt.key, 'system_template'],
      code: 'variable_undeclared',
      severity: 'warning',
      message:
        other === undefined
          ? `Prompt ${quoted(prompt.key)} of state ${quoted(name)} uses {{${variable.slice(0, 80)}}} and declares no such variable; unless the run's input brings it along, the model sees the marker itself.`
          : `Prompt ${quoted(prompt.key)} of state ${quoted(name)} uses {{${variable.slice(0, 80)}}}, which it does not declare; it is filled as prompt ${quoted(other)} declares it.`,
      mend: 'Declare it under "variables" of the prompt.',
    })
  }
}

/** Tools that a state which can be reached may use, and nothing runs. Each is told once. */
export function checkTools({ graph, states }: ReadPack, pack: Pack, tell: Tell): void {
  const bound = new Map((graph.tools ?? []).map(({ name, binding }) => [name, binding !== undefined]))
  const told = new Set<string>()
  for (const { name, prompt, node, isReachable } of states) {
    if (!isReachable || node.kind !== 'prompt_state') continue
    for (const tool of prompt?.tools ?? []) {
      if (bound.get(tool) !== false || told.has(tool)) continue
      told.add(tool)
      const isAgent = own(pack.agents?.members, tool) !== undefined
      tell({
        path: ['tools', tool],
        what: 'name',
        code: 'tool_unbound',
        severity: 'warning',
        message: `Nothing runs the tool ${quoted(tool)}, which state ${quoted(name)} may use${isAgent ? '; an agent has its name, and other agents are not called by themselves' : ''}. No run begins until it is bound.`,
        mend: `Add it under workflow.engine.bindings, such as ${quoted(tool)}: ${isAgent ? '{ call: { workflow: other.pack.yaml } }' : '{ shell_run: { command: /usr/bin/make } }, { call_mcp_tool: … }, { http_request: … } or { await_event: … }'}; or bind it in the console.`,
      })
    }
  }
}
