import type { AgentRow } from '@/lib/view/agent-wire'

/** What a person is about to do to an agent; `kid` names the key. */
export type AgentAct =
  | { act: 'put'; agent?: AgentRow }
  | { act: 'rotate' | 'remove'; agent: AgentRow }
  | { act: 'revoke'; agent: AgentRow; kid: string }
