import { type GraphPath, quoted } from '@/lib/workflow/graph-problem'
import { didYouMean } from '@/lib/workflow/nearest-name'
import type { Tell } from '../tell'

/** A server may also be one of the installation's: only a file that declares servers itself can have misspelled one. */
export function checkServer(
  server: string,
  words: string,
  path: GraphPath,
  names: readonly string[],
  tell: Tell,
): void {
  if (names.includes(server)) return
  const isAlone = names.length === 0
  tell({
    path: [...path, 'server'],
    code: 'unknown_mcp_server',
    severity: isAlone ? 'warning' : 'error',
    message: isAlone
      ? `${words} names the MCP server ${quoted(server)}, and this file declares none; unless the installation has it, it cannot be reached.`
      : `${words} names the MCP server ${quoted(server)}, and no [[mcp_servers]] entry has that name.`,
    mend: didYouMean(server, names, 'Declare it under [[mcp_servers]].'),
  })
}
