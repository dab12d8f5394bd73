import { Actor } from '@/components/ui/actor'

/** Actors that are nobody: how the ledger's words for them read in a table. */
const nobody: Record<string, string> = { engine: 'engine', silence: 'nobody in time' }

/** Who did what a token says: a person's or an agent's name, quieter when it was nobody. */
export function Who({ id }: { id: string }) {
  const word = nobody[id]
  if (word !== undefined) return <span className="text-ink-3">{word}</span>
  return <Actor id={id} />
}
