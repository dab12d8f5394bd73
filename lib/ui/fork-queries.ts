'use client'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import type { Json, JsonObject } from '@/lib/base/json'
import type { ForkPlanView, ForkTreeView } from '@/lib/view/fork-wire'
import { api } from './api'
import { keys } from './keys'

/** What a fork at a token would do; it changes nothing. */
export function useForkPlan(run: string, at: number, version: string | undefined) {
  return useQuery({
    queryKey: keys.forkPlan(run, at, version ?? ''),
    queryFn: ({ signal }) =>
      api<ForkPlanView>(`/runs/${run}/fork-plans`, {
        method: 'POST',
        onlyAsks: true,
        body: { at, version },
        signal,
      }),
    // The plan of the version before stays in sight, and is marked as such, until its successor is here.
    placeholderData: keepPreviousData,
    // What was shown is what is forked: it never changes under a hand, and is never shown to whoever comes back.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  })
}

/** The forks of a run, of those, and the run it was forked from. */
export function useForks(run: string) {
  return useQuery({
    queryKey: keys.forks(run),
    queryFn: ({ signal }) => api<ForkTreeView>(`/runs/${run}/forks`, { signal }),
  })
}

export interface ForkWish {
  at: number
  version: string
  digest: string
  dryRun: boolean
  reason: string
  /** Only what was changed. */
  input?: Json
  artifacts?: JsonObject
  idempotencyKey: string
}

/** Begins the fork with that plan, or nothing: `fork_plan_changed` means that another plan has to be looked at. */
export function useFork(run: string) {
  return useMutation({
    mutationFn: ({ idempotencyKey, dryRun, ...body }: ForkWish) =>
      api<{ id: string }>(`/runs/${run}/forks`, {
        method: 'POST',
        body: { ...body, dry_run: dryRun },
        idempotencyKey,
      }),
  })
}
