import { plainActor, wholeActor } from '@/lib/view/plain-words'

/** Who acted: a person's name, or an agent's with its whole SPIFFE id on hover. */
export function Actor({ id }: { id: string }) {
  const name = plainActor(id)
  const whole = wholeActor(id)
  return whole === name ? name : <span title={whole}>{name}</span>
}
