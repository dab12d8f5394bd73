/** A workflow's policy in words: a line for each thing it may reach. */
import type { Policy, WorkflowGraph } from '@/lib/workflow/graph'

export interface PolicyLine {
  label: string
  /** Patterns and names, or nothing when `words` say it. */
  rules: string[]
  words?: string
}

/** What the policy says, in the order of what it acts on. */
export function policyLines({ format, policy }: Pick<WorkflowGraph, 'format' | 'policy'>): PolicyLine[] {
  const lines = policy.allow ? allowLines(policy.allow) : declaredLines(format, policy)
  return policy.rego ? [...lines, regoLine(policy.rego)] : lines
}

function allowLines({ fs, env, http, shell, mcp }: NonNullable<Policy['allow']>): PolicyLine[] {
  const list = fs.list.length > 0 ? fs.list : fs.read
  const all = [
    { label: 'Reads', rules: fs.read },
    { label: 'Writes', rules: fs.write },
    { label: 'Deletes', rules: fs.delete },
    { label: 'Lists', rules: list },
    { label: 'Variables', rules: env.readKeys },
    {
      label: 'URLs',
      rules: http.urls,
      ...(http.methods.length > 0 ? { words: `by ${http.methods.join(', ')}` } : {}),
    },
    { label: 'Commands', rules: shell.commands },
    { label: 'MCP tools', rules: mcp.tools },
    { label: 'MCP data', rules: mcp.resources },
  ]
  const named = all.filter(({ rules }) => rules.length > 0)
  const rest = all.filter(({ rules }) => rules.length === 0).map(({ label }) => inSentence(label))
  if (rest.length === 0) return named
  const words =
    rest.length === all.length ? 'Everything.' : `All else, which is any of ${rest.join(', ')} too.`
  return [...named, { label: 'Denied', rules: [], words }]
}

/** `Reads` in the middle of a sentence; `URLs` and `MCP tools` stay as they are. */
function inSentence(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase()
}

function declaredLines(format: string, { roots, privateTargets }: Policy): PolicyLine[] {
  if (format === 'agentd') {
    const words = 'It states no policy: whatever this installation’s folders and public addresses allow.'
    return [{ label: 'Allowed', rules: [], words }]
  }
  const folders = roots.map(({ path, access }) => `${path} (${access})`)
  return [
    folders.length > 0
      ? { label: 'Folders', rules: folders }
      : { label: 'Folders', rules: [], words: 'None.' },
    {
      label: 'Reaches',
      rules: privateTargets,
      words: privateTargets.length > 0 ? 'and public addresses' : 'Public addresses.',
    },
  ]
}

function regoLine({ query, file }: NonNullable<Policy['rego']>): PolicyLine {
  return {
    label: 'And Rego',
    rules: [query],
    words: file === undefined ? 'must be true' : `of ${file} must be true`,
  }
}
