/** What can be made to go wrong with an agent of the lab, and how the console's menu says it. */
export const faultKinds = {
  errors: 'Answers with errors',
  slow: 'Answers late',
  never: 'Does not answer',
  unsigned: 'Answers unsigned',
  garbage: 'Answers what nobody can read',
  twice: 'Answers twice',
  stolen: 'Presents another agent’s token',
  skewed: 'Its clock is 40 s ahead',
  dies: 'Dies between prepare and execute',
} as const

export type FaultKind = keyof typeof faultKinds

export interface PresentFault {
  kind: FaultKind
  /** For `slow`. */
  ms?: number
  /** Milliseconds since the epoch. */
  since: number
}

export function isFaultKind(text: unknown): text is FaultKind {
  return typeof text === 'string' && Object.hasOwn(faultKinds, text)
}

/** The longest that an agent may be made to wait. */
export const maxSlowMs = 120_000
