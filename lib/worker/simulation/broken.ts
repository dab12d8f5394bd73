/** A promise that was not kept. */
export class Broken extends Error {
  override readonly name = 'Broken'
}

/** Throws Broken with that sentence unless it holds. */
export function must(holds: boolean, sentence: () => string): void {
  if (!holds) throw new Broken(sentence())
}
