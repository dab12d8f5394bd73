import { pauseForApprovalConfig } from '@/lib/nodes/pause-for-approval'
import { configOf, definedOnly } from './resolved'
import type { Resolver } from './runner'
import { oneLine } from './words'

/** What the step before gave, at most this much of it: who decides sees what would go on. */
const maxShownChars = 65_536

/** Only says what it is, and shows what came before: the engine holds the run and lets it go on. */
export const pauseForApprovalResolver: Resolver = {
  async resolve(step) {
    const { reason } = configOf(pauseForApprovalConfig, step.node)
    const given = Object.entries(await step.values.ofParents()).filter(([, value]) => value !== null)
    const shown = given.map(([node, value]) => `${node}\n${JSON.stringify(value, null, 2)}`).join('\n\n')
    return definedOnly({ reason, before: shown === '' ? undefined : clippedText(shown) })
  },

  async describe(action, step) {
    const reason = typeof action.reason === 'string' ? oneLine(action.reason) : ''
    return {
      action: {
        kind: 'pause_for_approval',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: oneLine(step.node.label || step.node.id, 200),
        sentence: reason || 'Let the run go on',
      },
      ...(typeof action.before === 'string' && {
        preview: { show: 'text', title: 'What came before', text: action.before },
      }),
    }
  },
}

function clippedText(text: string): string {
  return text.length > maxShownChars ? `${text.slice(0, maxShownChars).toWellFormed()}\n…` : text
}
