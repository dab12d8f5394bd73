/*
 * YAML text as a JSON value with places. The library makes tokens and a tree; the value is made here, because here is
 * where it is bounded: how many tokens are looked at, how deep, how many values and characters the aliases unfold into.
 *
 *   text ──lex, counted──▶ tokens ──compose──▶ tree ──walk──▶ value        an alias is the value its anchor had
 *
 * YAML 1.2, core schema. Members are texts, whatever they look like (`true:` and `1:` are names); `<<` merges. Refused,
 * each at its place: several documents, tags beyond the core schema, doubled names, names that are no texts, numbers
 * that cannot be kept, aliases that lead to themselves.
 */
import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  type ParsedNode,
  Parser,
} from 'yaml'
import type { Json } from '@/lib/base/json'
import { maxDepth } from '../strict-json'
import { isMerge, unfold } from './unfold-yaml'
import { libraryWords, type Say } from './yaml-faults'

/** The library takes about a second for so many; 5,000 states of ten lines are half of it. */
const maxLexemes = 800_000

const maxFaults = 20

export interface YamlFault {
  offset: number
  code: string
  message: string
  mend: string
  path: string
}

export interface YamlText {
  /** Absent when the text is no YAML or beyond the bounds. */
  value?: Json
  faults: YamlFault[]
  /** Offset of a member or element, or of the nearest thing around it that stands in the text. */
  offsetOf(path: readonly (string | number)[], what: 'name' | 'value'): number
}

/** Reads one YAML document. At most 20 faults are told; never throws for a text. */
export function readYaml(text: string): YamlText {
  const faults: YamlFault[] = []
  const say: Say = (offset, code, message, mend, path = '') => {
    if (faults.length < maxFaults) faults.push({ offset, code, message, mend, path })
  }
  const nowhere = { faults, offsetOf: () => 0 }
  const document = documentOf(text, say)
  if (!document) return nowhere
  const unfolding = unfold(say)
  const value = unfolding.read(document.contents as ParsedNode | null, '', 0)
  if (faults.length > 0) return nowhere
  return {
    value: value.value,
    faults,
    offsetOf: (path, what) => offsetIn(document.contents as ParsedNode | null, path, what, unfolding.meant),
  }
}

function documentOf(text: string, say: Say): Document.Parsed | undefined {
  try {
    const tokens = tokensOf(text)
    if (!tokens) {
      say(
        0,
        'too_many_values',
        `The text has more than ${maxLexemes.toLocaleString('en-US')} words, marks and line breaks, which is more than any pack within the bounds needs.`,
        'Split the pack into smaller ones.',
      )
      return undefined
    }
    const composer = new Composer({
      prettyErrors: false,
      uniqueKeys: false,
      resolveKnownTags: false,
      logLevel: 'silent',
    })
    const [document, second] = [...composer.compose(tokens, true, text.length)]
    // Its warnings are of tags, which the walk below tells.
    for (const { code, message, pos } of document?.errors ?? []) say(pos[0], ...libraryWords(code, message))
    if (second)
      say(
        (second as Document.Parsed).range[0],
        'several_documents',
        'A second YAML document begins here; a pack is one document.',
        'Write each pack into a file of its own.',
      )
    return document as Document.Parsed | undefined
  } catch (error) {
    // Only what is nested deeper than the stack is gets here; the library bounds its own depth otherwise.
    if (!(error instanceof RangeError)) throw error
    say(0, 'too_deep', `The text is nested deeper than ${maxDepth} levels.`, 'Flatten it.')
    return undefined
  }
}

function tokensOf(text: string) {
  const parser = new Parser()
  const tokens = []
  let lexemes = 0
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1
    if (lexemes > maxLexemes) return undefined
    for (const token of parser.next(lexeme)) tokens.push(token)
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}

function offsetIn(
  root: ParsedNode | null,
  path: readonly (string | number)[],
  what: 'name' | 'value',
  meant: ReadonlyMap<Alias, ParsedNode>,
): number {
  let here = root
  let at = root?.range[0] ?? 0
  for (const [depth, part] of path.entries()) {
    const isLast = depth === path.length - 1
    const inside = isAlias(here) ? meant.get(here) : here
    if (isSeq(inside)) here = (inside.items[Number(part)] as ParsedNode | undefined) ?? null
    else {
      const pair = pairOf(inside ?? null, String(part), meant)
      if (!pair) return at
      if ((isLast && what === 'name') || !pair.value) return pair.key.range[0]
      here = pair.value
    }
    if (!here) return at
    at = here.range[0]
  }
  return at
}

/** The member of an object, its own or merged into it. */
function pairOf(
  node: ParsedNode | null,
  name: string,
  meant: ReadonlyMap<Alias, ParsedNode>,
): Pair<ParsedNode, ParsedNode | null> | undefined {
  if (!isMap(node)) return undefined
  const pairs = node.items as Pair<ParsedNode, ParsedNode | null>[]
  const own = pairs.find(
    ({ key }) => isScalar(key) && (typeof key.value === 'string' ? key.value : key.source) === name,
  )
  if (own && !isMerge(own)) return own
  for (const pair of pairs.filter(isMerge)) {
    const { value } = pair
    for (const from of isSeq(value) ? (value.items as ParsedNode[]) : [value]) {
      const found = pairOf((isAlias(from) ? meant.get(from) : from) ?? null, name, meant)
      if (found) return found
    }
  }
  return undefined
}
