import { z } from 'zod'
import { Problem } from '@/lib/base/problem'
import type { Backend } from '@/lib/workflow/graph'

const text = z.string().min(1).max(2_048)

const declared = z.strictObject({
  backends: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(128),
        provider: z.enum(['anthropic', 'openai', 'gemini', 'openai-compatible', 'unix', 'http', 'scripted']),
        model: text.optional(),
        api_key_env: text.optional(),
        base_url: text.optional(),
        path: text.optional(),
      }),
    )
    .max(64),
})

/** The backend that agentd's switches stand for; one command line or environment has at most one. */
export interface AgentdSwitches {
  /** `--intel-unix`, else AGENTD_INTEL_UNIX. */
  intelUnix?: string
  /** `--intel-http`, else AGENTD_INTEL_HTTP. */
  intelHttp?: string
}

/** The variable that the bearer token of `--intel-http` stands in. */
export const bearerVariable = 'AGENTD_INTEL_HTTP_BEARER'

/**
 * The installation's backends: agentd's switches as `default`, then those of `models.json` (undefined: no such file),
 * written as in a workflow: name, provider, model, api_key_env, base_url, path. Throws Problem `bad_request` that
 * says what is wrong with the file.
 */
export function installationBackends(
  modelsJson: string | undefined,
  env: (name: string) => string | undefined,
  switches: AgentdSwitches = {},
): Backend[] {
  const unix = switches.intelUnix ?? env('AGENTD_INTEL_UNIX')
  const http = switches.intelHttp ?? env('AGENTD_INTEL_HTTP')
  const listed = modelsJson === undefined ? [] : readBackends(modelsJson)
  if (unix?.trim()) return [{ name: 'default', provider: 'unix', path: unix.trim() }, ...listed]
  if (!http?.trim()) return listed
  const bearer = env(bearerVariable)?.trim() ? { apiKeyEnv: bearerVariable } : {}
  return [{ name: 'default', provider: 'http', baseUrl: http.trim(), ...bearer }, ...listed]
}

function readBackends(json: string): Backend[] {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Problem('bad_request', 'models.json is not JSON; it holds {"backends": […]}.')
  }
  const parsed = declared.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new Problem(
      'bad_request',
      `models.json is not right at ${issue?.path.join('.') || 'the top'}: ${issue?.message ?? 'another shape was expected'}.`,
    )
  }
  return parsed.data.backends.map(({ name, provider, model, path, ...rest }) => ({
    name,
    provider,
    ...(model ? { model } : {}),
    ...(rest.api_key_env ? { apiKeyEnv: rest.api_key_env } : {}),
    ...(rest.base_url ? { baseUrl: rest.base_url } : {}),
    ...(path ? { path } : {}),
  }))
}
