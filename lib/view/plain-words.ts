/* Ids of the ledger as people say them. */

/** Who acted, by name: `person:ada` is "ada", `agent:spiffe://lab/agent/edge-router-07` "edge-router-07". */
export function plainActor(actor: string): string {
  const whole = wholeActor(actor)
  return whole.startsWith('spiffe://') ? agentName(whole) : whole
}

/** The same with an agent's SPIFFE id left whole. */
export function wholeActor(actor: string): string {
  return actor.replace(/^(person|agent|engine|prompt):/, '')
}

/** Text of the ledger as people read it: actors by their names, wherever it speaks of them by their ids. */
export function plainWords(text: string): string {
  return text
    .replace(/\b(?:agent:)?(spiffe:\/\/[^\s"'”’,;)]*[^\s"'”’,;).:])/g, (_, id: string) => agentName(id))
    .replace(/\bperson:(?=\S)/g, '')
}

/** The same as a sentence, with its one full stop whether or not whoever wrote it put one. */
export function asSentence(text: string): string {
  const words = plainWords(text).trim()
  return words === '' || /[.!?…:]["”’)]?$/.test(words) ? words : `${words}.`
}

/** The last part of a SPIFFE id: `spiffe://lab/agent/edge-router-07` is "edge-router-07". */
export function agentName(spiffeId: string): string {
  return spiffeId.split('/').at(-1) || spiffeId
}
