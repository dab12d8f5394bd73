/*
 * What agentd's nodes can say, by type. A Holdpoint kind may take more (a literal path beside `path_from`); in a text
 * that agentd should read as well, that would be a field it does not know, so it is refused by name.
 *
 * Extensions are allowed: `compensate`, where the kind can be taken back by another act, and of any node `reversible`,
 * `resource_hints` and `constraints` (contained.ts). agentd refuses them all, and people who write them know that.
 */
import { containedMembers } from '../contained'

export interface NodeFields {
  required: readonly string[]
  optional: readonly string[]
}

/** Two lists of names, each as one text. */
function fields(required: string, optional = ''): NodeFields {
  const names = (text: string) => text.split(' ').filter((name) => name !== '')
  return { required: names(required), optional: names(optional) }
}

export const nodeFields: Readonly<Record<string, NodeFields>> = {
  read_file: fields('path_from'),
  read_env: fields('key'),
  read_mcp_resource: fields('resource_from', 'server'),
  parse_json: fields('input_from'),
  template_render: fields('template', 'input_from'),
  json_select: fields('input_from path'),
  diff_compute: fields('left_from right_from'),
  llm_infer: fields('backend prompt', 'input_from output_schema output_repairs'),
  agent_loop: fields(
    'backend tools max_steps',
    'instructions instructions_from max_tokens input_from output_schema',
  ),
  write_file: fields('path_from content_from'),
  create_dir: fields('path_from'),
  http_request: fields('method url_from', 'body_from headers compensate'),
  call_mcp_tool: fields('tool', 'args_from server compensate'),
  shell_run: fields('command', 'args_from timeout_secs compensate'),
  call: fields('workflow', 'input_from start'),
  parallel: fields('branches'),
  map: fields('items_from workflow max_items', 'max_concurrent start'),
  terminate: fields(''),
  fail: fields('', 'reason'),
  pause_for_approval: fields('', 'reason'),
  respond: fields('body_template', 'status content_type input_from'),
  merge: fields(''),
  condition: fields('expr'),
  switch: fields('expr'),
}

export const nodeTypes = Object.keys(nodeFields)

/** What every node may say besides the fields of its type. */
export const commonFields = ['id', 'type', 'retry', 'reversible', ...containedMembers] as const

/** The fields of a type, or undefined when agentd has no such type. */
export function fieldsOf(type: string): NodeFields | undefined {
  return Object.hasOwn(nodeFields, type) ? nodeFields[type] : undefined
}
