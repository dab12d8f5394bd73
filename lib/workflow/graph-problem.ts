/** What is wrong with a graph, and where in it. */
export interface GraphProblem {
  severity: 'error' | 'warning'
  /** Stable, lower snake case; a format puts its own name before it: `atd_cycle`. */
  code: string
  message: string
  mend: string
  /** Place in the graph: `['nodes', 2, 'config', 'url']`. */
  path: GraphPath
}

export type GraphPath = (string | number)[]

/** Receives problems as they are found. */
export type Report = (problem: GraphProblem) => void

/** A name in quotation marks, shortened so that a hostile text cannot flood a message. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text)
}
