'use client'
import { QueryCache, QueryClient } from '@tanstack/react-query'
import { isApiProblem } from './api'
import { links } from './links'

/** Sends a person whose session is over to sign in, and back to where they were. */
function toSignIn(error: unknown): void {
  if (!isApiProblem(error) || error.status !== 401) return
  window.location.assign(links.signIn(window.location.pathname + window.location.search))
}

/**
 * The keeper of answers. Nothing is asked for again by time: the stream says when an answer is old. A refusal is an
 * answer and is not asked twice; a lost connection is tried twice more.
 */
export function makeQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: toSignIn }),
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        // On the server a client lives as long as the page it makes; a timer would hold it for longer.
        gcTime: typeof window === 'undefined' ? Number.POSITIVE_INFINITY : 10 * 60_000,
        refetchOnWindowFocus: false,
        refetchOnReconnect: true,
        retry: (failures, error) => isApiProblem(error, 'offline') && failures < 2,
      },
      mutations: { retry: false, onError: toSignIn },
    },
  })
}
