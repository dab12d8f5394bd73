import { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const defaultResponse = { status: 200, contentType: 'application/json' } as const

/** A media type with its parameters, on one line of visible ASCII. */
const contentType = z
  .string()
  .max(200, 'A content type has at most 200 characters.')
  .regex(
    /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+\/[!#$%&'*+\-.^_`|~0-9A-Za-z]+[\x20-\x7e]*$/,
    'A content type was expected, such as text/xml or application/json; charset=utf-8.',
  )

export const respondConfig = strictConfig({
  status: z
    .int('A status was expected, a whole number from 100 to 599.')
    .min(100, 'A status is a whole number from 100 to 599.')
    .max(599, 'A status is a whole number from 100 to 599.')
    .optional(),
  content_type: contentType.optional(),
  body_template: z.string().max(262_144, 'A template has at most 262,144 characters.'),
  input_from: dottedPath.optional(),
})

export type RespondConfig = z.infer<typeof respondConfig>

export const respond: NodeKind<RespondConfig> = {
  kind: 'respond',
  title: 'Answer the caller',
  summary:
    'Says what the HTTP caller of the run is answered once the run has completed; the last one counts.',
  family: 'control',
  config: respondConfig,
  fields: {
    status: { label: 'Status', help: 'The HTTP status; without it, 200.', example: 200 },
    content_type: {
      label: 'Content type',
      help: 'What the body is; without it, application/json.',
      example: 'text/xml',
    },
    body_template: {
      label: 'Body',
      help: 'A text with {{dotted.path}} markers.',
      example: '<Response><Say>{{reply}}</Say></Response>',
    },
    input_from: {
      label: 'Input from',
      help: 'The value the keys are looked up in; without it, the run’s input.',
      example: 'classify.parsed',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
