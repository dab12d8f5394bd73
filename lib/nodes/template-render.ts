import { z } from 'zod'
import { dottedPath, strictConfig } from './config-schema'
import type { NodeKind } from './node-kind'

export const templateRenderConfig = strictConfig({
  template: z.string().max(262_144, 'A template has at most 262,144 characters.'),
  input_from: dottedPath.optional(),
})

export type TemplateRenderConfig = z.infer<typeof templateRenderConfig>

export const templateRender: NodeKind<TemplateRenderConfig> = {
  kind: 'template_render',
  title: 'Fill a template',
  summary: 'Replaces each {{key}} by the value it names; a key that is not there stays visible.',
  family: 'transform',
  config: templateRenderConfig,
  fields: {
    template: {
      label: 'Template',
      help: 'A text with {{dotted.path}} markers.',
      example: 'Hi {{user.name}}, you are {{user.age}}.',
    },
    input_from: {
      label: 'Input from',
      help: 'The value the keys are looked up in; without it no key is found.',
      example: 'trigger',
    },
  },
  labels: () => [],
  consequence: () => 'read_only',
  timeoutS: 10,
}
