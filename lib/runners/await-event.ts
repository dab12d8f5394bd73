import type { Json } from '@/lib/base/json'
import { awaitEventConfig } from '@/lib/nodes/await-event'
import { renderTemplate } from '@/lib/nodes/template'
import { valueInside } from '@/lib/nodes/values-path'
import { nodeLabel } from '@/lib/workflow/graph-index'
import { renderedPrompt } from './rendered-prompt'
import { configOf, definedOnly } from './resolved'
import type { Resolver } from './runner'
import { oneLine, previewText } from './words'

/** Of one artifact, as whoever answers is shown it. */
const maxShownChars = 16_384

/** Only says what is waited for, and what is known: the engine holds the run until the event is given. */
export const awaitEventResolver: Resolver = {
  async resolve(step) {
    const { question, template, variables, args_from } = configOf(awaitEventConfig, step.node)
    const args = args_from === undefined ? null : ((await step.values.at(args_from)) ?? null)
    const filled = renderTemplate(question, (key) => valueInside({ args }, key) ?? '').text
    const prompt = template === undefined ? undefined : await renderedPrompt(step, template, variables)
    const known = await step.values.artifacts()
    return definedOnly({
      question: filled,
      prompt,
      artifacts: known.length === 0 ? undefined : Object.fromEntries(known),
    })
  },

  async describe(action, step) {
    const question = typeof action.question === 'string' ? oneLine(action.question) : ''
    const text = shown(action.artifacts)
    return {
      action: {
        kind: 'await_event',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: oneLine(nodeLabel(step.node), 200),
        sentence: question || `Say what happened at ${oneLine(nodeLabel(step.node), 100)}`,
      },
      ...(text !== '' && { preview: { show: 'text', title: 'What is known', text: previewText(text) } }),
    }
  },
}

/** What is decided about. The prompt is for a model; who answers finds it in the action. */
function shown(artifacts: Json | undefined): string {
  const known = Object.entries(artifacts ?? {}).map(([name, value]) => `${name}\n${clipped(value as Json)}`)
  return known.map((part) => part.trim()).join('\n\n')
}

function clipped(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  return text.length > maxShownChars ? `${text.slice(0, maxShownChars).toWellFormed()}\n…` : text
}
