import { version } from '@/lib/base/version'
import { route } from '../current'
import { json } from '../http/route'

/** Where a program begins: lists, and what stands for itself. Each links on by the ids that it gives out. */
export const apiLinks = {
  agents: '/api/v1/agents',
  approvals: '/api/v1/approvals',
  circuits: '/api/v1/circuits',
  health: '/api/v1/health',
  keys: '/api/v1/keys',
  lab: '/api/v1/lab',
  me: '/api/v1/me',
  overview: '/api/v1/overview',
  people: '/api/v1/people',
  plans: '/api/v1/plans',
  pools: '/api/v1/pools',
  runs: '/api/v1/runs',
  stream: '/api/v1/stream',
  tasks: '/api/v1/tasks',
  tokens: '/api/v1/tokens',
  workflows: '/api/v1/workflows',
  agent_rollback: '/.well-known/atd/rollback',
  agent_errors: '/aerr/error',
  agent_circuits: '/.well-known/cascade/circuits',
  agent_prepare: '/.well-known/cascade/rollback/prepare',
  public_keys: '/.well-known/jwks.json',
} as const

/** `GET /api/v1`: what this is, in which version, and its collections. */
export const getIndex = route({ auth: 'none' }, async () =>
  json({ name: 'Holdpoint', version, links: apiLinks }),
)
