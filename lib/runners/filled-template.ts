import type { Json } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import { renderTemplate } from '@/lib/nodes/template'
import { refusal } from './resolved'

/** A template of a node, filled from a value. Throws EffectFailed `too_large` past 1 MiB. */
export function filledTemplate(node: string, template: string, input: Json): string {
  try {
    return renderTemplate(template, input).text
  } catch (error) {
    if (isProblem(error, 'too_large')) throw refusal('too_large', `Node ${node}: ${error.message}`)
    throw error
  }
}
