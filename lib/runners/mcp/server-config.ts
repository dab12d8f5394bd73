import { z } from 'zod'
import { Problem } from '@/lib/base/problem'

/** An MCP server, as an administrator or an author names it. */
export type McpServerConfig = {
  name: string
  /** Tools and resources that may be asked of it at all: `*`, a prefix and `*`, or a name. Absent: any. */
  allowTools?: readonly string[]
  allowResources?: readonly string[]
} & (
  | {
      /** Looked up in PATH when it holds no slash; no shell. */
      command: string
      args: readonly string[]
      /** Set for it, besides PATH and HOME. */
      env: Readonly<Record<string, string>>
      /** Variables of the server's own environment that it is given as well. */
      passEnv: readonly string[]
    }
  | {
      url: string
      headers: Readonly<Record<string, string>>
      /** Variable that holds a bearer token. */
      bearerEnv?: string
    }
)

const text = z.string().min(1).max(4_096)
const record = z.record(z.string().min(1).max(256), z.string().max(8_192))
// The installation's own keys are no server's business.
const variable = text.refine((name) => !/^(HOLDPOINT_|NEXTAUTH_)/.test(name), {
  error: 'A variable of the installation itself cannot be handed on.',
})

const members = {
  command: text.optional(),
  args: z.array(z.string().max(16_384)).max(256).optional(),
  env: record.optional(),
  pass_env: z.array(variable).max(64).optional(),
  url: z
    .url({ protocol: /^https?$/ })
    .max(4_096)
    .optional(),
  headers: record.optional(),
  bearer_env: variable.optional(),
}

const oneWay = (server: { command?: string; url?: string }) =>
  (server.command === undefined) !== (server.url === undefined)
const oneWayWords = 'A server has either a command or a url.'

const listed = z
  .array(z.strictObject({ name: z.string().min(1).max(128), ...members }).refine(oneWay, oneWayWords))
  .max(64)
const mapped = z.record(z.string().min(1).max(128), z.strictObject(members).refine(oneWay, oneWayWords))

const toolsFile = z.union([z.strictObject({ servers: listed }), z.strictObject({ mcpServers: mapped })])

/**
 * The installation's MCP servers: agentd's switch (`--mcp-stdio`, else AGENTD_MCP_STDIO; words parted by spaces) as
 * `default`, then those of `tools.json`, as a list of `servers` or as the `mcpServers` map other programs use. Throws
 * Problem `bad_request` that says what is wrong with the file.
 */
export function installationServers(
  toolsJson: string | undefined,
  env: (name: string) => string | undefined,
  switches: { mcpStdio?: string } = {},
): McpServerConfig[] {
  const [command, ...args] = (switches.mcpStdio ?? env('AGENTD_MCP_STDIO') ?? '').split(/\s+/).filter(Boolean)
  const byDefault: McpServerConfig[] = command
    ? [{ name: 'default', command, args, env: {}, passEnv: [] }]
    : []
  return [...byDefault, ...(toolsJson === undefined ? [] : readServers(toolsJson))]
}

function readServers(json: string): McpServerConfig[] {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Problem('bad_request', 'tools.json is not JSON; it holds {"servers": […]}.')
  }
  const parsed = toolsFile.safeParse(value)
  if (!parsed.success) {
    throw new Problem('bad_request', `tools.json is not right: ${faultIn(parsed.error)}`)
  }
  const servers =
    'servers' in parsed.data
      ? parsed.data.servers
      : Object.entries(parsed.data.mcpServers).map(([name, server]) => ({ name, ...server }))
  return servers.map(({ name, command, args, env, pass_env, url, headers, bearer_env }) =>
    url === undefined
      ? { name, command: command ?? '', args: args ?? [], env: env ?? {}, passEnv: pass_env ?? [] }
      : { name, url, headers: headers ?? {}, ...(bearer_env ? { bearerEnv: bearer_env } : {}) },
  )
}

function faultIn(error: z.ZodError): string {
  const [issue] = error.issues
  const inner =
    issue?.code === 'invalid_union' ? issue.errors.flat().find(({ path }) => path.length > 1) : issue
  const place = inner?.path.join('.')
  return place
    ? `at ${place}: ${inner?.message}`
    : 'it holds {"servers": […]}, each with a name and a command or a url.'
}
