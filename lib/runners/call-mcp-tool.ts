/*
 * One call of an MCP tool as a step. What the tool says of itself is looked up before anybody decides: a tool that only
 * reads is no change, every other call is one, and cannot be undone unless the author declared how.
 *
 * Taking it back is another call, declared beside it and filled from what was recorded: `{{request.args.…}}` and
 * `{{response.structured.…}}`. The server wrote that answer, so it fills arguments and never chooses the tool.
 */
import { z } from 'zod'
import { hashJson } from '@/lib/base/hash'
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import { isProblem } from '@/lib/base/problem'
import {
  callMcpToolConfig,
  type ToolCompensation,
  toolArgs,
  toolCompensation,
  toolName,
} from '@/lib/nodes/call-mcp-tool'
import { narrowed } from '@/lib/nodes/node-kind'
import { serverName } from '@/lib/nodes/read-mcp-resource'
import { renderJson } from '@/lib/nodes/template'
import { notDone } from './dry-run'
import { actionOf, configOf, definedOnly, givenText, refusal } from './resolved'
import { EffectFailed, type McpTool, type Preview, type Runner, type Step } from './runner'
import { requestTime } from './time-left'
import { oneLine, previewText } from './words'

const callDo = z.strictObject({
  tool: toolName,
  args: toolArgs,
  server: serverName.optional(),
  compensate: toolCompensation.optional(),
})

type CallDo = z.infer<typeof callDo>

const sealedCall = z.strictObject({ request: z.string(), compensate: toolCompensation.optional() })

export const callMcpToolRunner: Runner = {
  async resolve(step) {
    const config = configOf(callMcpToolConfig, step.node)
    return definedOnly({
      tool: await givenText(step, 'tool', config.tool, config.tool_from),
      args: (config.args as JsonObject | undefined) ?? (await argsFrom(step, config.args_from)),
      server: config.server ?? (await serverFrom(step, config.server_from)),
      compensate: config.compensate as Json | undefined,
    })
  },

  async describe(action, step, effects) {
    const wanted = actionOf(callDo, action, step.node.id)
    await effects.allow(callOf(wanted))
    if (wanted.compensate) await effects.allow(callOf(wanted.compensate))
    // A dry run reaches nobody: what the tool says of itself stays unknown.
    const tool = effects.dryRun
      ? undefined
      : await effects.mcp.tool(wanted.tool, requestTime(effects).signal, wanted.server)
    const consequence = narrowed(consequenceOf(wanted, tool), step.node)
    const target = oneLine(wanted.tool, 200)
    return {
      action: {
        kind: 'call_mcp_tool',
        node: step.node.id,
        visit: step.visit,
        do: action,
        consequence,
        target,
        sentence: oneLine(`Call the MCP tool ${target}${tool ? ` of ${tool.server}` : ''}`),
        ...(consequence === 'reversible' && wanted.compensate
          ? {
              undo: 'compensate' as const,
              undoSentence: oneLine(`Call the MCP tool ${wanted.compensate.tool}`),
            }
          : {}),
      },
      preview: previewOf(wanted, tool),
    }
  },

  async snapshot(action) {
    const wanted = actionOf(callDo, action.do, action.node)
    const state = definedOnly({
      request: hashJson(action.do),
      compensate: wanted.compensate as Json | undefined,
    })
    return { state, hash: hashJson(state), undo: 'compensate' }
  },

  async perform(action, effects) {
    const wanted = actionOf(callDo, action.do, action.node)
    await effects.allow(callOf(wanted))
    const named = { tool: wanted.tool, ...(wanted.server === undefined ? {} : { server: wanted.server }) }
    if (effects.dryRun) return notDone(named)
    const { content, isError, structured } = await effects.mcp.call(
      wanted.tool,
      wanted.args as JsonObject,
      requestTime(effects).signal,
      wanted.server,
    )
    const output = { ...named, content, is_error: isError, structured }
    return isError ? { output, label: 'error' } : { output }
  },

  async probe(action, _snapshot, effects) {
    const { tool, server } = actionOf(callDo, action.do, action.node)
    const described = await effects.mcp.tool(tool, requestTime(effects).signal, server)
    // A tool that may be called twice is called again; of any other only a person can tell.
    return described?.idempotent === true || described?.readOnly === true ? 'not_taken' : 'unknown'
  },

  async undo(action, snapshot, effects, rollback) {
    const sealed = sealedCall.safeParse(snapshot.state)
    if (!sealed.success || sealed.data.request !== hashJson(action.do)) {
      throw refusal('checkpoint_tampered', 'The checkpoint does not belong to this call; nothing was called.')
    }
    const { compensate } = sealed.data
    if (!compensate) {
      throw refusal(
        'nothing_declared',
        `No call is declared that takes ${action.target} back; take it back by hand.`,
      )
    }
    const args = filledArgs(compensate, action.do, rollback.output)
    await effects.allow(callOf(compensate))
    // What must be put back is put back, whatever the breaker says.
    const answer = await effects.mcp.call(compensate.tool, args, effects.signal, compensate.server, true)
    if (answer.isError) {
      throw new EffectFailed(
        'compensation_refused',
        oneLine(
          `The compensating tool ${compensate.tool} answered with an error; look at the target and try again.`,
        ),
      )
    }
    return { description: oneLine(`Called the MCP tool ${compensate.tool}`) }
  },
}

function callOf({ tool, server }: Pick<CallDo, 'tool' | 'server'>) {
  return { tool: 'mcp.tool', name: tool, ...(server === undefined ? {} : { server }) } as const
}

function consequenceOf(wanted: CallDo, tool: McpTool | undefined) {
  if (tool?.readOnly === true) return 'read_only'
  return wanted.compensate ? 'reversible' : 'irreversible'
}

/** No arguments where nothing stands. Throws EffectFailed `value_wrong` for anything but arguments by name. */
async function argsFrom(step: Step, from: string | undefined): Promise<JsonObject> {
  const value = from === undefined ? null : ((await step.values.at(from)) ?? null)
  if (value === null) return {}
  if (isJsonObject(value)) return value
  throw refusal(
    'value_wrong',
    `Node ${step.node.id} takes its arguments from "${from}", which holds no object; arguments by name were expected.`,
  )
}

async function serverFrom(step: Step, from: string | undefined): Promise<string | undefined> {
  const value = from === undefined ? undefined : await step.values.at(from)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  throw refusal('value_wrong', `Node ${step.node.id} takes its server from "${from}", which holds no text.`)
}

/** The compensating arguments, filled. Throws EffectFailed `value_missing` when something is not there. */
function filledArgs(declared: ToolCompensation, request: JsonObject, output: Json | undefined): JsonObject {
  const root: JsonObject = { request, ...(output === undefined ? {} : { response: output }) }
  try {
    const { value, missing } = renderJson((declared.args ?? {}) as JsonObject, root)
    if (missing.length === 0) return value as JsonObject
    const why =
      output === undefined
        ? 'the answer to the call was never recorded'
        : 'the recorded answer has no such value'
    throw refusal(
      'value_missing',
      `The compensating call needs ${missing.map((key) => `"${key}"`).join(', ')}, and ${why}; take it back by hand.`,
    )
  } catch (error) {
    if (!isProblem(error, 'too_large')) throw error
    throw refusal(
      'too_large',
      'The compensating call grows past 1 MiB with the recorded answer in it; take it back by hand.',
    )
  }
}

function previewOf(wanted: CallDo, tool: McpTool | undefined): Preview {
  const says =
    tool?.readOnly === true
      ? 'The server says that it only reads.'
      : tool?.destructive === false
        ? 'The server says that it only adds.'
        : ''
  const lines = [wanted.tool, ...(says === '' ? [] : [says]), '', JSON.stringify(wanted.args, null, 2)]
  return { show: 'text', title: oneLine(`Call ${wanted.tool}`), text: previewText(lines.join('\n')) }
}
