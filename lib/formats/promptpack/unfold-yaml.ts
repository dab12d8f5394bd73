/*
 * The tree of a YAML text as one value: anchors followed, merges done, and the whole within bounds, so that a few lines
 * cannot stand for gigabytes.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isPair,
  isScalar,
  type Pair,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { Json } from '@/lib/base/json'
import { escaped, holdsExactly, maxDepth, maxTextBytes, maxValues } from '../strict-json'
import { libraryWords, type Say } from './yaml-faults'

/** Characters of all texts, an alias counted as what it stands for. */
const maxUnfoldedChars = 2 * maxTextBytes

/** A value with what it costs each time it is unfolded. */
interface Unfolded {
  value: Json
  values: number
  chars: number
  depth: number
}

const nothing: Unfolded = { value: null, values: 1, chars: 0, depth: 0 }

const coreTags = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/

/*
 * Walks the tree once, in the order of the text. An anchor's value is kept when its node is done, so that an alias costs
 * nothing to follow; what it would cost to write out is counted all the same, and that is bounded.
 */
export function unfold(say: Say) {
  const anchors = new Map<string, { node: ParsedNode; unfolded?: Unfolded }>()
  const meant = new Map<Alias, ParsedNode>()
  let values = 0
  let chars = 0
  let isOver = false

  const spend = (node: ParsedNode, moreValues: number, moreChars: number): boolean => {
    values += moreValues
    chars += moreChars
    if (values <= maxValues && chars <= maxUnfoldedChars) return true
    if (!isOver)
      say(
        node.range[0],
        'too_many_values',
        `The text holds more than ${maxValues.toLocaleString('en-US')} values or 16 MiB of text, aliases counted as what they stand for.`,
        'Split the pack, or repeat less.',
      )
    isOver = true
    return false
  }

  const read = (node: ParsedNode | null, path: string, depth: number): Unfolded => {
    if (node === null || isOver) return nothing
    if (depth > maxDepth) {
      say(
        node.range[0],
        'too_deep',
        `The text is nested deeper than ${maxDepth} levels.`,
        'Flatten it.',
        path,
      )
      return nothing
    }
    if (isAlias(node)) return aliased(node, path, depth)
    if (node.tag !== undefined && !coreTags.test(node.tag))
      say(node.range[0], ...libraryWords('TAG_RESOLVE_FAILED', ''), path)
    const { anchor } = node
    if (anchor) anchors.set(anchor, { node })
    const unfolded = isScalar(node)
      ? scalar(node, path)
      : isMap(node)
        ? map(node as YAMLMap.Parsed, path, depth)
        : sequence(node as YAMLSeq.Parsed, path, depth)
    if (anchor) anchors.set(anchor, { node, unfolded })
    return unfolded
  }

  const aliased = (alias: Alias.Parsed, path: string, depth: number): Unfolded => {
    const anchor = anchors.get(alias.source)
    if (!anchor?.unfolded) {
      say(
        alias.range[0],
        'bad_alias',
        anchor
          ? `The alias *${alias.source.slice(0, 80)} stands inside what it stands for, which would never end.`
          : `The alias *${alias.source.slice(0, 80)} stands for no anchor before it.`,
        anchor ? 'Write the value out.' : 'Set the anchor first, or write the value out.',
        path,
      )
      return nothing
    }
    meant.set(alias, anchor.node)
    const { unfolded } = anchor
    if (depth + unfolded.depth > maxDepth)
      say(
        alias.range[0],
        'too_deep',
        `The text is nested deeper than ${maxDepth} levels.`,
        'Flatten it.',
        path,
      )
    return spend(alias, unfolded.values, unfolded.chars) ? unfolded : nothing
  }

  const scalar = (node: Scalar.Parsed, path: string): Unfolded => {
    const { value, source } = node
    if (!spend(node, 1, typeof value === 'string' ? value.length : 0)) return nothing
    if (typeof value === 'number' && !keepsNumber(value, source))
      say(
        node.range[0],
        'number_inexact',
        `The number ${source.slice(0, 60)} cannot be kept exactly.`,
        'Write it with fewer digits, or in quotation marks.',
        path,
      )
    if (typeof value === 'string' && hasHalf(value)) sayHalf(node, path)
    return { ...nothing, value: value as Json, chars: typeof value === 'string' ? value.length : 0 }
  }

  const sayHalf = (node: ParsedNode, path: string) =>
    say(
      node.range[0],
      'half_character',
      'This text holds one half of a surrogate pair, which is no character.',
      'Write both halves, or neither.',
      path,
    )

  const sequence = (node: YAMLSeq.Parsed, path: string, depth: number): Unfolded => {
    if (!spend(node, 1, 0)) return nothing
    const items = node.items.map((item, at) =>
      isPair(item) ? nothing : read(item as ParsedNode, `${path}/${at}`, depth + 1),
    )
    return { value: items.map((item) => item.value), ...costOf(items) }
  }

  const map = (node: YAMLMap.Parsed, path: string, depth: number): Unfolded => {
    if (!spend(node, 1, 0)) return nothing
    const own = new Map<string, Unfolded>()
    const merged = new Map<string, Unfolded>()
    for (const pair of node.items as Pair<ParsedNode, ParsedNode | null>[]) {
      if (isMerge(pair)) {
        const from = read(pair.value, `${path}/<<`, depth)
        for (const [name, member] of mergedMembers(from.value, pair, path))
          if (!merged.has(name)) merged.set(name, member)
        continue
      }
      const name = nameOf(pair, path)
      if (name === undefined) continue
      const inside = `${path}/${escaped(name)}`
      if (own.has(name))
        say(
          pair.key.range[0],
          'duplicate_name',
          `The name ${JSON.stringify(name.slice(0, 80))} stands twice in this object; only one of the two would count.`,
          'Remove one of the two.',
          inside,
        )
      own.set(name, read(pair.value, inside, depth + 1))
    }
    for (const [name, member] of merged) if (!own.has(name)) own.set(name, member)
    const members = [...own].map(([name, member]): [string, Json] => [name, member.value])
    return { value: Object.fromEntries(members), ...costOf([...own.values()]) }
  }

  const mergedMembers = (from: Json, pair: Pair<ParsedNode, ParsedNode | null>, path: string) => {
    const list = Array.isArray(from) ? from : [from]
    const members: [string, Unfolded][] = []
    for (const one of list) {
      if (one !== null && typeof one === 'object' && !Array.isArray(one))
        for (const [name, value] of Object.entries(one)) members.push([name, weighed(value)])
      else if (!isOver)
        say(
          pair.key.range[0],
          'bad_merge',
          '"<<" merges an object into this one, and what it names is none.',
          'Name an anchor of an object, or put "<<" in quotation marks.',
          path,
        )
    }
    return members
  }

  const nameOf = ({ key }: Pair<ParsedNode, ParsedNode | null>, path: string): string | undefined => {
    const fault = (message: string) =>
      say(key?.range[0] ?? 0, 'bad_name', message, 'Write the name as a text.', path)
    if (!isScalar(key)) fault('The name of a member is no text here.')
    else if (key.anchor || (key.tag !== undefined && !coreTags.test(key.tag)))
      fault('The name of a member carries an anchor or a tag here.')
    else {
      const name = typeof key.value === 'string' ? key.value : (key.source ?? '')
      if (key.value === null && key.source === '') fault('A member has no name here.')
      else if (name === '__proto__') fault('"__proto__" is reserved and cannot be a name.')
      else if (hasHalf(name)) sayHalf(key, path)
      else if (spend(key, 0, name.length)) return name
    }
    return undefined
  }

  return { read, meant }
}

function costOf(parts: readonly Unfolded[]): Omit<Unfolded, 'value'> {
  let cost = { values: 1, chars: 0, depth: 0 }
  for (const { values, chars, depth } of parts)
    cost = {
      values: cost.values + values,
      chars: cost.chars + chars,
      depth: Math.max(cost.depth, depth + 1),
    }
  return cost
}

/** What a value costs. It was followed as an alias before, so that its size is within what is left. */
function weighed(value: Json): Unfolded {
  if (typeof value !== 'object' || value === null)
    return { ...nothing, value, chars: typeof value === 'string' ? value.length : 0 }
  return { value, ...costOf(Object.values(value).map(weighed)) }
}

export function isMerge({ key, value }: Pair<ParsedNode, ParsedNode | null>): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN' && value !== null && !isScalar(value)
}

function keepsNumber(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false
  if (/^[-+]?0[xo]/.test(source)) return Number.isSafeInteger(value)
  const written = source
    .replace(/^\+/, '')
    .replace(/^(-?)\./, '$10.')
    .replace(/\.(?=$|[eE])/, '')
  return holdsExactly(written)
}

function hasHalf(text: string): boolean {
  return !text.isWellFormed()
}
