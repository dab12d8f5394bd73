/*
 * A walk of a thousand steps that only compute: nothing is sealed and nothing waits, so what is left is what the engine
 * itself costs beside its signatures and its inserts.
 */
import type { Benchmark } from './figures'
import { figuresOf, rounds } from './raw-rounds'

export const stepwise: Benchmark = {
  group: 'stepwise',
  async measure(say, quick) {
    const steps = quick ? 200 : 1_000
    const size = { runs: 1, steps, rounds: quick ? 3 : 9 }
    const measured = await rounds(size, say, ({ version }) => version(walk(steps)))
    const name = `a walk of ${steps.toLocaleString('en')} pure steps`
    return figuresOf(name, measured)
  },
}

/** Templates that read the run's input and the step before, with a condition as every fourth step. */
function walk(steps: number): string {
  const last = steps - 1
  const parts = [
    'name = "bench-walk"',
    '[policy.fs]\nread = ["/data/**"]',
    '[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "n0"',
  ]
  for (let at = 0; at < last; at++)
    parts.push(
      at % 4 === 3
        ? `[[nodes]]\nid = "n${at}"\ntype = "condition"\nexpr = "n${at - 1}.rendered"`
        : `[[nodes]]\nid = "n${at}"\ntype = "template_render"\ntemplate = "Step ${at} of {{content}}"\ninput_from = "trigger"`,
    )
  parts.push(`[[nodes]]\nid = "n${last}"\ntype = "terminate"`)
  for (let at = 0; at < last; at++) {
    const isChoice = at % 4 === 3
    parts.push(`[[edges]]\nfrom = "n${at}"\nto = "n${at + 1}"${isChoice ? '\nwhen = "true"' : ''}`)
    if (isChoice) parts.push(`[[edges]]\nfrom = "n${at}"\nto = "n${last}"\nwhen = "false"`)
  }
  return `${parts.join('\n\n')}\n`
}
