import { z } from 'zod'
import { route } from '../current'
import { json } from '../http/route'
import { checkCall } from '../policy-check'

const text = z.string().min(1).max(4_096)

/** One call, as a person types it. */
const toolCall = z.discriminatedUnion('tool', [
  z.strictObject({ tool: z.enum(['fs.read', 'fs.write', 'fs.delete', 'fs.list']), path: text }),
  z.strictObject({ tool: z.literal('env.read'), key: text }),
  z.strictObject({
    tool: z.literal('http.request'),
    method: z
      .string()
      .regex(/^[A-Za-z]{1,20}$/)
      .default('GET'),
    url: text,
  }),
  z.strictObject({ tool: z.literal('shell.run'), command: text, args: z.array(text).max(100).default([]) }),
  z.strictObject({ tool: z.literal('mcp.tool'), name: text, server: text.optional() }),
  z.strictObject({ tool: z.literal('mcp.resource'), uri: text, server: text.optional() }),
])

/** `POST /api/v1/workflows/{version}/policy-check`: would this call be allowed, and which rule says so? Does nothing. */
export const postPolicyCheck = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer', body: toolCall, maxBodyBytes: 65_536 },
  async ({ installation, params, body }) => {
    const { graph } = await installation.graphOf(params.version ?? '')
    const { policies, ports } = installation
    const { installationRoots, unconfined } = ports
    return json(await checkCall(graph, body, { policies, installationRoots, unconfined }))
  },
)
