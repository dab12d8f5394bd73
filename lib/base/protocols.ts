/**
 * What an agent outside speaks. `holdpoint`: it signs its answers and may claim tasks; `atd` and `aerr`: one-phase
 * rollback; `cascade`: rollback in two phases.
 */
export const agentProtocols = ['holdpoint', 'atd', 'cascade', 'aerr'] as const
export type AgentProtocol = (typeof agentProtocols)[number]

export function isAgentProtocol(text: string): text is AgentProtocol {
  return (agentProtocols as readonly string[]).includes(text)
}
