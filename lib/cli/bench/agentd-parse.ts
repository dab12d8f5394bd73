/*
 * Reading an agentd workflow of a thousand nodes: text to checked graph, as on every import and every keystroke that
 * settles. Beside it, what the TOML parser alone takes for the same text.
 */
import { parse } from 'smol-toml'
import { parseAgentd, writeAgentd } from '@/lib/formats/agentd/agentd'
import { nodeKind } from '@/lib/nodes/registry'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { atMost, type Benchmark, type Figure, median, shown, took } from './figures'

const nodeCount = 1_000

export const agentdParse: Benchmark = {
  group: 'agentd parse',
  async measure(say, quick) {
    const text = workflowText()
    const broken = text.replace('type = "condition"', 'type = "conditon"')
    const graph = graphOf(text)
    const rounds = quick ? 5 : 25
    const first = await took(() => parseAgentd(text, nodeKind))
    const each = async (work: () => unknown) => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) times.push((await took(work)).ms)
      return median(times)
    }
    const read = await each(() => parseAgentd(text, nodeKind))
    say(`${nodeCount} nodes, ${text.length} characters: ${read.toFixed(1)} ms`)
    const name = `agentd, ${nodeCount.toLocaleString('en')} nodes`
    return [
      atMost(100, `${name}: parsed and validated`, read, 'ms'),
      shown(`${name}: the first time, with everything cold`, first.ms, 'ms'),
      shown(`${name}: with a fault to be placed`, await each(() => parseAgentd(broken, nodeKind)), 'ms'),
      shown(`${name}: the TOML parser alone`, await each(() => parse(text)), 'ms'),
      shown(`${name}: written`, await each(() => writeAgentd(graph)), 'ms'),
    ] satisfies Figure[]
  },
}

function graphOf(text: string): WorkflowGraph {
  const { graph, diagnostics } = parseAgentd(text, nodeKind)
  if (graph) return graph
  throw new Error(`The workflow to be measured is refused: ${diagnostics[0]?.message}`)
}

/** A chain with every fourth node a condition, whose other way leads to the end; templates with retries between. */
function workflowText(): string {
  const parts = [
    'name = "bench"',
    '[policy.fs]\nread = ["/data/**"]',
    '[[start_nodes]]\nname = "main"\nsource = "manual"\nentry_node = "n0"',
  ]
  const last = nodeCount - 1
  for (let at = 0; at < last; at++)
    parts.push(
      at % 4 === 3
        ? `[[nodes]]\nid = "n${at}"\ntype = "condition"\nexpr = "n${at - 1}.rendered"`
        : `[[nodes]]\nid = "n${at}"\ntype = "template_render"\ntemplate = "Step ${at} of {{order.id}}"\ninput_from = "trigger"\n[nodes.retry]\nmax_attempts = 3\nbackoff_ms = 500`,
    )
  parts.push(`[[nodes]]\nid = "n${last}"\ntype = "terminate"`)
  for (let at = 0; at < last; at++) {
    const isChoice = at % 4 === 3
    parts.push(`[[edges]]\nfrom = "n${at}"\nto = "n${at + 1}"${isChoice ? '\nwhen = "true"' : ''}`)
    if (isChoice) parts.push(`[[edges]]\nfrom = "n${at}"\nto = "n${last}"\nwhen = "false"`)
  }
  return `${parts.join('\n\n')}\n`
}
