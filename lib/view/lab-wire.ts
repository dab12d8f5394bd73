/** The lab on the wire: which of its agents were made to fail, and how (`/api/v1/lab`). Times are ms since the epoch. */

/** What can be made to go wrong with an agent of the lab, and how a menu says it. */
export const faultKinds = {
  errors: 'Answers with errors',
  slow: 'Answers late',
  never: 'Does not answer',
  unsigned: 'Answers unsigned',
  garbage: 'Answers what nobody can read',
  twice: 'Answers twice',
  stolen: 'Presents another agent’s token',
  skewed: 'Its clock is 40 s slow',
  dies: 'Dies between prepare and execute',
} as const

export type FaultKind = keyof typeof faultKinds

export interface PresentFault {
  kind: FaultKind
  /** For `slow`: how late. */
  ms?: number
  since: number
}

/** The longest that an agent may be made to wait. */
export const maxSlowMs = 120_000

export interface LabView {
  agents: { id: string; name: string; fault?: PresentFault }[]
}

/** `none` sets the agent right. */
export interface MakeFail {
  kind: FaultKind | 'none'
  ms?: number
}

export function isFaultKind(text: unknown): text is FaultKind {
  return typeof text === 'string' && Object.hasOwn(faultKinds, text)
}
