/*
 * Secrets: looked up at the moment a request needs one, kept nowhere. A workflow says where each of its secrets is
 * found; on a server the installation's own variables are out of its reach, whatever it says.
 */
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { readAuthored } from './authored-files'
import type { Installation } from './installation'

/** Variables of the installation itself. */
const own = /^(HOLDPOINT_|NEXTAUTH_)/

/** The environment as workflows see it. */
export function environmentOf({ ports }: Pick<Installation, 'ports'>): (name: string) => string | undefined {
  return (name) => (!ports.unconfined && own.test(name) ? undefined : process.env[name])
}

/** The value of a secret the workflow declares; undefined when it declares none of that name, or nothing is there. */
export async function secretOf(
  house: Installation,
  graph: WorkflowGraph,
  name: string,
): Promise<string | undefined> {
  const source = graph.secrets?.find((secret) => secret.name === name)
  if (!source) return undefined
  if ('env' in source.from) return environmentOf(house)(source.from.env)
  return (await readAuthored(house, source.from.file))?.replace(/\r?\n$/, '')
}
