/** A caller or downstream by its short name: `spiffe://lab/agent/classifier` is "classifier", `workflow:bgp-failover` "bgp-failover", `host:10.0.0.2:443` "10.0.0.2:443". */
export function partyName(party: string): string {
  if (party.startsWith('spiffe://')) return party.split('/').at(-1) || party
  return party.replace(/^(workflow|backend|mcp|host):/, '') || party
}
