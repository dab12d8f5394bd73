/* Patterns of a policy that look like more than they are. */
import { isJsonObject } from '@/lib/base/json'
import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import type { ReadDocument } from './read'

/** Lists of patterns in a policy, by section and member. */
const patternLists = [
  ['fs', 'read'],
  ['fs', 'write'],
  ['fs', 'delete'],
  ['fs', 'list'],
  ['env', 'read_keys'],
  ['http', 'urls'],
  ['shell', 'commands'],
  ['mcp', 'tools'],
  ['mcp', 'resources'],
] as const

export function checkPatterns(read: ReadDocument, tell: Tell): void {
  const { policy } = read.written
  for (const [section, member] of patternLists) {
    const table = policy?.[section]
    const list = isJsonObject(table) ? table[member] : undefined
    if (!Array.isArray(list)) continue
    const path = [...read.section('policy'), section, member]
    for (const [at, pattern] of list.entries())
      if (typeof pattern === 'string' && looksLikeMore(pattern, section === 'env'))
        tellPattern(pattern, [...path, at], tell)
  }
  for (const [at, server] of read.mcpServers.entries())
    for (const member of ['allow_tools', 'allow_resources'])
      for (const [index, pattern] of (Array.isArray(server[member]) ? server[member] : []).entries())
        if (typeof pattern === 'string' && looksLikeMore(pattern, true))
          tellPattern(
            pattern,
            [...read.section('mcp_servers'), read.written.serverAt[at] ?? at, member, index],
            tell,
          )
}

function tellPattern(pattern: string, path: GraphPath, tell: Tell): void {
  tell({
    path,
    code: 'pattern_literal',
    severity: 'warning',
    message: `The pattern ${quoted(pattern)} is taken literally: only "*", "prefix/*" and "prefix/**" stand for more than themselves.`,
    mend: 'Write one of the three forms, or name each target.',
  })
}

const regexLike = /^\^|\$$|\.[*+]|\\[dwsb.]|\(\?|\[[^\]]*-[^\]]*\]|\[\^|\([^)]*\|[^)]*\)|\{\d+,?\d*\}/

/** Longer ones are no regular expressions of people, and reading them as such would take long. */
const maxPatternRead = 500

/** True for what people write when they mean a regular expression or a richer glob. */
function looksLikeMore(pattern: string, mayEndInStar: boolean): boolean {
  const rest = mayEndInStar ? pattern.replace(/\*$/, '') : pattern.replace(/(^|\/)\*\*?$/, '')
  return rest.includes('*') || (rest.length <= maxPatternRead && regexLike.test(rest))
}
