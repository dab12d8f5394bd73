import { z } from 'zod'
import { parseJsonConfig } from '@/lib/nodes/parse-json'
import { parseBounded } from './parse-bounded'
import { actionOf, configOf, givenText } from './resolved'
import type { Runner } from './runner'

const parseDo = z.strictObject({ text: z.string() })

export const parseJsonRunner: Runner = {
  async resolve(step) {
    const config = configOf(parseJsonConfig, step.node)
    return { text: await givenText(step, 'text', undefined, config.input_from) }
  },

  async describe(action, step) {
    return {
      action: {
        kind: 'parse_json',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence: 'read_only',
        target: 'a text',
        sentence: 'Read a text as JSON',
      },
    }
  },

  async perform(action) {
    const { text } = actionOf(parseDo, action.do, action.node)
    return { output: { parsed: parseBounded(text, `The text given to node ${action.node}`) } }
  },
}
