/*
 * Values whole, as they lie in the store: fetched once and kept while there is room. It runs in the worker that reads and
 * compares them, so that 20 MB never pass through the page.
 */
import { ApiProblem } from './api'
import type { StoredRef } from './value-terms'

/** Bytes that are kept: three of the largest there may be. */
const keptBytes = 100_000_000

const kept = new Map<string, Uint8Array>()
/** Values that are on their way: who asks meanwhile waits for the same. */
const coming = new Map<string, Promise<Uint8Array>>()

/** All bytes of a value. Throws ApiProblem. */
export async function bytesOf({ run, hash }: StoredRef): Promise<Uint8Array> {
  const known = kept.get(hash)
  if (known) {
    // The one used last is dropped last.
    kept.delete(hash)
    kept.set(hash, known)
    return known
  }
  const onItsWay = coming.get(hash)
  if (onItsWay) return onItsWay
  const fetching = fetched(run, hash).finally(() => coming.delete(hash))
  coming.set(hash, fetching)
  const bytes = await fetching
  keep(hash, bytes)
  return bytes
}

function keep(hash: string, bytes: Uint8Array): void {
  kept.set(hash, bytes)
  let size = 0
  for (const value of kept.values()) size += value.length
  for (const [oldest, value] of kept) {
    if (size <= keptBytes || kept.size === 1) break
    kept.delete(oldest)
    size -= value.length
  }
}

async function fetched(run: string, hash: string): Promise<Uint8Array> {
  const response = await fetch(valueFile(run, hash), { credentials: 'same-origin', cache: 'no-store' }).catch(
    () => undefined,
  )
  if (!response)
    throw new ApiProblem('offline', 'Holdpoint did not answer: the connection or the server is down.', 0)
  if (!response.ok) {
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string }
    const sentence = problem.detail ?? `Holdpoint answered with status ${response.status}.`
    throw new ApiProblem(problem.code ?? 'internal', sentence, response.status)
  }
  return new Uint8Array(await response.arrayBuffer())
}

/** Where the bytes of a value are had, as a file. */
export function valueFile(run: string, hash: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}/values/${encodeURIComponent(hash)}?as=bytes`
}
