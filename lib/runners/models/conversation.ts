import type { ModelMessage, ToolUse } from '@/lib/runners/runner'

const noResult = '(There is no result: the tool was not run.)'

/**
 * The conversation with each use answered once, right after it: providers refuse any other.
 * A use without a result gets one that says so, and a result that nobody asked for becomes what the user says. System
 * messages stay where they are.
 */
export function paired(messages: readonly ModelMessage[]): ModelMessage[] {
  const told: ModelMessage[] = []
  let open = new Map<string, ToolUse>()
  let held: ModelMessage[] = []
  const close = () => {
    for (const { id, name } of open.values()) held.push({ role: 'tool', id, name, text: noResult })
    told.push(...held)
    open = new Map()
    held = []
  }
  for (const message of messages) {
    if (message.role === 'tool') {
      const use = open.get(message.id)
      if (use) {
        open.delete(message.id)
        held.push({ ...message, name: use.name })
      } else {
        close()
        told.push({ role: 'user', text: `A tool gave back: ${message.text}` })
      }
      continue
    }
    if (message.role === 'system') {
      told.push(message)
      continue
    }
    close()
    told.push(message)
    if (message.role === 'assistant') open = new Map(message.uses?.map((use) => [use.id, use]))
  }
  close()
  return told
}
