'use client'
import { useMemo } from 'react'
import { useValue } from '@/lib/ui/run-queries'
import type { ValueView } from '@/lib/view/run-wire'
import { shortValue } from '@/lib/view/short-value'
import { contentOf, isJsonType, sizeWords } from '@/lib/view/value-content'
import { visibleText } from '@/lib/view/visible-text'

/** Bytes that are looked at for one line. */
const looked = 6_000

/** The bytes of an answer, or their beginning; at most `most`, a multiple of 3. */
export function bytesIn({ base64 = '' }: ValueView, most = Number.POSITIVE_INFINITY): Uint8Array {
  const letters = atob(base64.slice(0, (most / 3) * 4))
  const bytes = new Uint8Array(letters.length)
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at)
  return bytes
}

/** One line that stands for a stored value. */
export function shortOf(value: ValueView): string {
  if (value.json !== undefined) return shortValue({ is: 'json', json: value.json, text: '' }, value.size)
  // The beginning of JSON is no JSON, and its first line says nothing.
  if (value.truncated && isJsonType(value.mediaType)) return `${sizeWords(value.size)} of JSON`
  const bytes = bytesIn(value, looked)
  return shortValue(contentOf(value.mediaType, bytes, bytes.length < value.size), value.size)
}

/** A commit or a digest by its beginning, as people name them. */
function abbreviated(text: string): string {
  return /^[0-9a-f]{40,64}$/.test(text) ? text.slice(0, 10) : text
}

/** That line once the value has come; `wait` while rows only pass by. */
export function useShort(run: string, hash: string | undefined, wait = false) {
  const value = useValue(run, hash, !wait)
  const whole = useMemo(() => value.data && visibleText(shortOf(value.data)), [value.data])
  return { short: whole && abbreviated(whole), whole, failed: value.isError }
}

/** A value in a cell: one line, in its own direction. */
export function ShortValue({ run, hash, wait }: { run: string; hash: string; wait: boolean }) {
  const { short, whole, failed } = useShort(run, hash, wait)
  if (failed) return <span title="The value could not be read">unreadable</span>
  if (short === undefined) return <span aria-hidden="true">…</span>
  return (
    <bdi dir="auto" title={whole}>
      {short}
    </bdi>
  )
}
