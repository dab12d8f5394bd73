import { z } from 'zod'
import type { JsonObject } from '@/lib/base/json'
import { readMcpResourceConfig, resourceUri, serverName } from '@/lib/nodes/read-mcp-resource'
import { notDone } from './dry-run'
import { pureAction } from './pure-action'
import { actionOf, configOf, definedOnly, givenText } from './resolved'
import type { Effects, Runner } from './runner'
import { requestTime } from './time-left'
import { oneLine } from './words'

const readDo = z.strictObject({ uri: resourceUri, server: serverName.optional() })

export const readMcpResourceRunner: Runner = {
  async resolve(step) {
    const config = configOf(readMcpResourceConfig, step.node)
    return definedOnly({
      uri: await givenText(step, 'resource', config.resource, config.resource_from),
      server: config.server,
    })
  },

  async describe(action, step, effects) {
    const wanted = await allowed(action, step.node.id, effects)
    const target = oneLine(wanted.uri, 200)
    return { action: pureAction(step, action, { target, sentence: `Read the resource ${target}` }) }
  },

  async perform(action, effects) {
    const { uri, server } = await allowed(action.do, action.node, effects)
    const named = definedOnly({ uri, server })
    if (effects.dryRun) return notDone(named)
    const { contents } = await effects.mcp.read(uri, requestTime(effects).signal, server)
    return { output: { ...named, contents } }
  },
}

/** Policy is asked before any server is. */
async function allowed(action: JsonObject, node: string, effects: Effects) {
  const wanted = actionOf(readDo, action, node)
  await effects.allow({ tool: 'mcp.resource', ...wanted })
  return wanted
}
