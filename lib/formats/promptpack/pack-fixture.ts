import type { JsonObject } from '@/lib/base/json'

/** A pack in few words, for tests: prompts by key with what differs, states by name, and what else it has. */
export function packOf(
  states: Record<string, JsonObject> | undefined,
  more: {
    prompts?: Record<string, JsonObject | string>
    tools?: Record<string, JsonObject>
    engine?: JsonObject
    pack?: JsonObject
    workflow?: JsonObject
  } = {},
): JsonObject {
  const prompts = Object.entries(more.prompts ?? { p: 'Do it.' }).map(
    ([key, prompt]): [string, JsonObject] => [
      key,
      {
        id: 'p',
        name: 'P',
        version: '1.0.0',
        system_template: 'Do it.',
        ...(typeof prompt === 'string' ? { system_template: prompt } : prompt),
      },
    ],
  )
  const tools = Object.entries(more.tools ?? {}).map(([key, tool]): [string, JsonObject] => [
    key,
    { name: key, description: 'A tool.', ...tool },
  ])
  return {
    id: 'a-pack',
    name: 'A pack',
    version: '1.0.0',
    template_engine: { version: 'v1', syntax: '{{variable}}' },
    prompts: Object.fromEntries(prompts),
    ...(tools.length > 0 ? { tools: Object.fromEntries(tools) } : {}),
    ...(states
      ? {
          workflow: {
            version: 2,
            entry: Object.keys(states)[0] ?? '',
            states: Object.fromEntries(
              Object.entries(states).map(([name, state]) => [name, { prompt_task: 'p', ...state }]),
            ),
            ...(more.engine ? { engine: more.engine } : {}),
            ...more.workflow,
          },
        }
      : {}),
    ...more.pack,
  }
}

/** A last state, and one that leads there. */
export const last: JsonObject = { terminal: true }
export const to = (target: string, event = 'Done'): JsonObject => ({ on_event: { [event]: target } })
