/*
 * `{{key}}` templates. One pass: what a value brings along is never expanded again. A key that is not there stays as
 * its literal marker, so that the miss is seen instead of an empty text (agentd section 1.2).
 *
 * A marker runs from `{{` to the next `}}`, whatever stands between; spaces around the key do not count. The result is
 * bounded while it grows, so that no template and no value can make it larger than what is kept.
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { valueInside } from './values-path'

export const maxRenderedBytes = 1_048_576

export interface Rendered {
  text: string
  /** Keys that were not found, each once. */
  missing: string[]
}

/** The value of a key; undefined when there is none. */
export type Lookup = (key: string) => Json | undefined

/**
 * Fills a template from a value, or from what a function says of each key. Texts go in as they are, everything else as canonical JSON; `encode` is applied to
 * what goes in. Throws Problem `too_large` past 1 MiB of UTF-8.
 */
export function renderTemplate(
  template: string,
  root: Json | Lookup,
  encode: (text: string) => string = (text) => text,
): Rendered {
  const missing = new Set<string>()
  const pieces: string[] = []
  let bytesLeft = maxRenderedBytes
  const add = (piece: string): void => {
    bytesLeft -= byteLength(piece)
    if (bytesLeft < 0) throw tooLarge()
    pieces.push(piece)
  }
  let at = 0
  for (const { start, end, key } of markersOf(template)) {
    add(template.slice(at, start))
    at = end
    const value = typeof root === 'function' ? root(key) : valueInside(root, key)
    if (value === undefined) {
      missing.add(key)
      add(`{{${key}}}`)
    } else {
      add(encode(typeof value === 'string' ? value : canonicalJson(value)))
    }
  }
  add(template.slice(at))
  return { text: pieces.join(''), missing: [...missing] }
}

/** The key of a text that is one marker and nothing else. */
export function soleKey(text: string): string | undefined {
  const [first] = markersOf(text)
  return first?.start === 0 && first.end === text.length ? first.key : undefined
}

/** The keys of a template, each once. */
export function markerKeys(template: string): string[] {
  return [...new Set([...markersOf(template)].map(({ key }) => key))]
}

export interface Marker {
  start: number
  /** Just behind the closing braces. */
  end: number
  key: string
}

/** The markers of a template, in the order they stand there. */
export function* markersOf(template: string): Generator<Marker> {
  let at = 0
  for (;;) {
    const start = template.indexOf('{{', at)
    // No `}}` ahead means no marker ahead: each character is looked at once.
    const close = start === -1 ? -1 : template.indexOf('}}', start + 2)
    if (close === -1) return
    at = close + 2
    yield { start, end: at, key: template.slice(start + 2, close).trim() }
  }
}

/** A marker that is most likely not what was meant. */
interface MarkerFault {
  /** Line of the template, from 1. */
  line: number
  /** The end of a sentence about the template, without a full stop. */
  words: string
  mend: string
}

/** Faults told of one template; one with more of them is another kind of text. */
const maxMarkerFaults = 10

/** Markers that are not closed, empty, or have a path with an empty part. They are filled all the same. */
export function markerFaults(template: string): MarkerFault[] {
  const faults: MarkerFault[] = []
  const add = (at: number, words: string, mend: string) => {
    if (faults.length < maxMarkerFaults)
      faults.push({ line: template.slice(0, at).split('\n').length, words, mend })
  }
  const unclosed = (at: number) =>
    add(at, 'has a marker that begins with "{{" and is not closed', 'Close it with "}}".')
  let end = 0
  for (const marker of markersOf(template)) {
    end = marker.end
    if (marker.key.includes('{{')) unclosed(marker.start)
    else if (marker.key === '')
      add(
        marker.start,
        'has an empty marker "{{}}", which stands for the whole input',
        'Name a value, as in {{user.name}}.',
      )
    else if (/^[\w.[\]-]+$/.test(marker.key) && marker.key.split('.').includes(''))
      add(
        marker.start,
        `has the marker "{{${marker.key.slice(0, 100)}}}", whose path has an empty part`,
        'Write one dot between two names, as in {{user.name}}.',
      )
  }
  const open = template.indexOf('{{', end)
  if (open >= 0) unclosed(open)
  return faults
}

/**
 * Fills every text inside a JSON value. A text that is one marker and nothing else becomes the value itself, so that
 * a number stays a number. Throws as `renderTemplate` does.
 */
export function renderJson(value: Json, root: Json): { value: Json; missing: string[] } {
  const missing = new Set<string>()
  const render = (part: Json): Json => {
    if (typeof part === 'string') {
      const sole = soleKey(part)
      const found = sole === undefined ? undefined : valueInside(root, sole)
      if (found !== undefined) return found
      const rendered = renderTemplate(part, root)
      for (const key of rendered.missing) missing.add(key)
      return rendered.text
    }
    if (Array.isArray(part)) return part.map(render)
    if (part === null || typeof part !== 'object') return part
    return Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, render(inner)]))
  }
  return { value: render(value), missing: [...missing] }
}

const encoder = new TextEncoder()

function byteLength(text: string): number {
  return encoder.encode(text).byteLength
}

function tooLarge(): Problem {
  return new Problem(
    'too_large',
    'The filled template is larger than 1 MiB; select a smaller part of the value.',
  )
}
