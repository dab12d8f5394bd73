/*
 * `{{key}}` templates. One pass: what a value brings along is never expanded again. A key that is not there stays as
 * its literal marker, so that the miss is seen instead of an empty text (agentd section 1.2).
 */
import { canonicalJson } from '@/lib/base/canonical-json'
import type { Json } from '@/lib/base/json'
import { Problem } from '@/lib/base/problem'
import { valueAt } from './values-path'

export const maxRenderedBytes = 1_048_576

// A key is at most 512 characters and holds no braces: the search stays linear in the template.
const marker = /\{\{([^{}]{1,512})\}\}/g

export interface Rendered {
  text: string
  /** Keys that were not found, each once. */
  missing: string[]
}

/**
 * Fills a template from a value. Texts go in as they are, everything else as canonical JSON; `encode` is applied to
 * what goes in. Throws Problem `too_large` past 1 MiB of UTF-8.
 */
export function renderTemplate(
  template: string,
  root: Json,
  encode: (text: string) => string = (text) => text,
): Rendered {
  const missing = new Set<string>()
  let bytesLeft = maxRenderedBytes - byteLength(template)
  if (bytesLeft < 0) throw tooLarge()
  const text = template.replace(marker, (literal, inner: string) => {
    const key = inner.trim()
    const value = valueAt(root, key)
    if (value === undefined) {
      missing.add(key)
      return literal
    }
    const filled = encode(typeof value === 'string' ? value : canonicalJson(value))
    bytesLeft -= byteLength(filled) - byteLength(literal)
    if (bytesLeft < 0) throw tooLarge()
    return filled
  })
  return { text, missing: [...missing] }
}

/**
 * Fills every text inside a JSON value. A text that is one marker and nothing else becomes the value itself, so that
 * a number stays a number. Throws as `renderTemplate` does.
 */
export function renderJson(value: Json, root: Json): { value: Json; missing: string[] } {
  const missing = new Set<string>()
  const render = (part: Json): Json => {
    if (typeof part === 'string') {
      const whole = /^\{\{([^{}]{1,512})\}\}$/.exec(part)
      const found = whole ? valueAt(root, (whole[1] ?? '').trim()) : undefined
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
