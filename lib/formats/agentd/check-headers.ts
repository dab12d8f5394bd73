/* Headers of a request: names that can be sent, values that smuggle nothing in, and secrets that are declared. */
import { isJsonObject } from '@/lib/base/json'
import type { GraphNode } from '@/lib/workflow/graph'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'
import type { ReadDocument } from './read'

const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/

const secretPlaceholder = /\{\{secret:([A-Za-z_][A-Za-z0-9_.-]{0,199})\}\}/g

export function checkHeaders(node: GraphNode, path: GraphPath, { written }: ReadDocument, tell: Tell): void {
  const { headers } = node.config
  if (!isJsonObject(headers)) return
  for (const [name, value] of Object.entries(headers)) {
    const place = [...path, 'headers', name]
    if (!headerName.test(name))
      tell({
        path: place,
        what: 'name',
        code: 'bad_header_name',
        message: `Node ${quoted(node.id)}: ${quoted(name)} is not the name of a header.`,
        mend: 'Use letters, digits and hyphens.',
      })
    if (typeof value === 'string') checkHeaderValue(node, name, value, place, written.secrets, tell)
  }
}

function checkHeaderValue(
  node: GraphNode,
  name: string,
  value: string,
  path: GraphPath,
  secrets: readonly string[],
  tell: Tell,
): void {
  const words = `Node ${quoted(node.id)}: the header ${quoted(name)}`
  if (/[\r\n]/.test(value))
    tell({
      path,
      code: 'header_line_break',
      message: `${words} holds a line break, with which more headers could be smuggled in.`,
      mend: 'Write the value on one line.',
    })
  for (const [, secret = ''] of value.matchAll(secretPlaceholder))
    if (!secrets.includes(secret))
      tell({
        path,
        code: 'unknown_secret',
        message: `${words} asks for the secret ${quoted(secret)}, which is not declared.`,
        mend: didYouMean(
          secret,
          secrets,
          `Add [[secrets]] with name = ${quoted(secret)} and where it is found.`,
        ),
      })
  const rest = value.replace(secretPlaceholder, '')
  if (/\{\{\s*secret/i.test(rest))
    tell({
      path,
      code: 'bad_placeholder',
      message: `${words} holds a placeholder for a secret that is not written as {{secret:NAME}}.`,
      mend: 'Write {{secret:NAME}}, without spaces.',
    })
  else if (rest.includes('{{'))
    tell({
      path,
      code: 'header_not_filled',
      severity: 'warning',
      message: `${words} holds "{{"; values of the run never go into headers, so it is sent as it stands.`,
      mend: 'Write a fixed value, or {{secret:NAME}}.',
    })
}
