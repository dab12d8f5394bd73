/** What an author says of a step's resources, its breakers and its errors, in words; the same for every format. */
import { count } from '@/lib/ui/format-time'
import type { Containment, GraphNode, OnError } from '@/lib/workflow/graph'

interface Line {
  label: string
  text: string
}

/** One line each for what the step's author says; nothing for what is left to the usual. */
export function containedLines(node: GraphNode): Line[] {
  return [
    { label: 'Asks for', text: resourceWords(node) },
    { label: 'Breaker', text: breakerWords(node) },
    { label: 'On error', text: node.onError ? onErrorWords[node.onError] : '' },
  ].filter(({ text }) => text !== '')
}

/** The same of the whole workflow. */
export function containmentLines({ onError, onUnprepared }: Containment = {}): Line[] {
  return [
    { label: 'On error', text: onError ? onErrorWords[onError] : '' },
    { label: 'Undo', text: onUnprepared ? onUnpreparedWords[onUnprepared] : '' },
  ].filter(({ text }) => text !== '')
}

const onErrorWords: Record<OnError, string> = {
  nothing: 'Nothing follows by itself.',
  escalate: 'A person is asked.',
  rollback: 'It and all that followed is taken back; a person is asked where that cannot be.',
}

const onUnpreparedWords: Record<NonNullable<Containment['onUnprepared']>, string> = {
  ask: 'A person is asked when an agent cannot roll back.',
  partial: 'It goes on without an agent that cannot roll back, where nothing else waits for it.',
  abort: 'Nothing is taken back when an agent cannot roll back.',
}

function resourceWords({ resources = {} }: GraphNode): string {
  const { cpu, memoryMb, gpu, networkMbps } = resources
  const amounts = [
    cpu && count(cpu, 'processor'),
    memoryMb && `${memoryMb.toLocaleString('en')} MB of memory`,
    gpu && count(gpu, 'GPU'),
    networkMbps && `${networkMbps.toLocaleString('en')} Mbit/s`,
  ].filter((amount) => typeof amount === 'string')
  return amounts.length > 0 ? `${amounts.join(', ')}.` : ''
}

const whenOpenWords = {
  wait: 'While it is open, the step waits.',
  fail: 'While it is open, the step fails.',
  degrade: 'While it is open, the step is done without.',
}

function breakerWords({ circuit, whenOpen }: GraphNode): string {
  const { threshold, windowS, minCalls } = circuit ?? {}
  const parts = [
    threshold !== undefined && `above ${Math.round(threshold * 1000) / 10} % of calls failed`,
    windowS !== undefined && `within ${windowS} s`,
    minCalls !== undefined && `from ${count(minCalls, 'call')} on`,
  ].filter((part) => typeof part === 'string')
  const opens = parts.length > 0 ? `Opens ${parts.join(', ')}.` : ''
  return [opens, whenOpen ? whenOpenWords[whenOpen] : ''].filter((part) => part !== '').join(' ')
}
