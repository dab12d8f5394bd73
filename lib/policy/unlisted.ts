import type { Policy } from '@/lib/workflow/graph'
import type { Answer } from './answer'
import { denial } from './denial'
import type { ToolCall } from './tool-call'

/**
 * Without a policy agentd allows everything, because it runs as the person who typed the command. A server runs for
 * many: there programs and variables are only reached when the workflow names them. Undefined: this rule has no say.
 */
export function unlistedAnswer(
  policy: Pick<Policy, 'allow'>,
  call: ToolCall,
  unconfined: boolean | undefined,
): Answer | undefined {
  if (unconfined || policy.allow) return undefined
  if (call.tool !== 'shell.run' && call.tool !== 'env.read') return undefined
  const where = call.tool === 'shell.run' ? 'shell.commands' : 'env.read_keys'
  // Formats write the policy at different places; what stands in it is named alike.
  return denial(
    call,
    'what a server wants named',
    `on a server the workflow names it first: its policy must list it under ${where}`,
  )
}
