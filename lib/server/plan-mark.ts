/*
 * The mark of a plan that left the house as a text: a comment at its head that names the plan's hash. A text that has
 * it runs only as the plan somebody approved; whoever takes the line out makes the workflow their own. It is a comment,
 * so the hash does not depend on it.
 */
import type { Hash } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'

const mark = /^#[ \t]*holdpoint plan ([A-Za-z0-9_-]{43})[ \t]*$/

/** The plan's text with its mark at the head. */
export function markedPlan(text: string, version: Hash): string {
  return `# holdpoint plan ${version}\n\n${text}`
}

/** The hash in the mark among the comments at a text's head; undefined when there is none. */
export function planMarkIn(text: string): Hash | undefined {
  const at = markedLine(text)
  return at === undefined ? undefined : mark.exec(at)?.[1]
}

/** A marked text as it is kept once that very plan was approved: every line stays where it is. */
export function approvedText(text: string, version: Hash): string {
  const at = markedLine(text)
  return at === undefined ? text : text.replace(at, `# Approved as the plan ${version}`)
}

/** Throws Problem `plan_not_approved` for a marked text. `how` says where it can be approved, as a clause. */
export function refuseMarked(text: string, what: string, how: string): void {
  if (planMarkIn(text) === undefined) return
  throw new Problem(
    'plan_not_approved',
    `${what} is a plan that nobody has approved: ${how}, or take the line "# holdpoint plan …" out of it to make it a workflow of your own`,
  )
}

function markedLine(text: string): string | undefined {
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (mark.test(line)) return line
    if (line.trim() !== '' && !line.startsWith('#')) return undefined
  }
  return undefined
}
