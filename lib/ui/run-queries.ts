'use client'
import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { RollbackOnly, RollbackScope } from '@/lib/rollback/terms'
import type { FlagView } from '@/lib/view/flag-wire'
import type { RollbackPlanView, RollbackView } from '@/lib/view/rollback-wire'
import type { ChildSummary, RunDetail, RunRow, ValueView } from '@/lib/view/run-wire'
import type { Page } from '@/lib/view/wire'
import { api } from './api'
import { keys } from './keys'
import { childrenPerPage } from './page-sizes'

/** A run's graph, its row, and what the signed-in person may do with it. */
export function useRunDetail(run: string) {
  return useQuery({
    queryKey: keys.runDetail(run),
    queryFn: ({ signal }) => api<RunDetail>(`/runs/${run}`, { signal }),
  })
}

/** How the runs stand that a run's steps began. Only asked where some step can begin any. */
export function useChildren(run: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.children(run),
    queryFn: ({ signal }) => api<ChildSummary>(`/runs/${run}/children`, { signal }),
    enabled,
  })
}

/** The runs that one visit of a step began, page by page; `status` as `GET /api/v1/runs` has it, or empty. */
export function useChildRuns(run: string, node: string, visit: number, status: string) {
  return useInfiniteQuery({
    queryKey: keys.childList(run, node, visit, status),
    queryFn: ({ signal, pageParam }) =>
      api<Page<RunRow>>('/runs', {
        signal,
        query: { parent: run, node, visit, status, cursor: pageParam ?? undefined, limit: childrenPerPage },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
}

/** A stored value by its hash. A value never changes, so it is asked for once; not while `enabled` is false. */
export function useValue(run: string, hash: string | undefined, enabled = true) {
  return useQuery({
    queryKey: keys.runValue(run, hash ?? ''),
    queryFn: ({ signal }) => api<ValueView>(`/runs/${run}/values/${hash}`, { signal }),
    enabled: enabled && hash !== undefined,
  })
}

export type RunCommand =
  | { command: 'pause'; reason: string }
  | { command: 'resume' }
  | { command: 'cancel'; reason: string }

/** Pauses, resumes or cancels a run. What came of it arrives as tokens. */
export function useRunCommand(run: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ command, ...body }: RunCommand) =>
      api<unknown>(`/runs/${run}/${command}`, { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.runDetail(run) }),
  })
}

/**
 * What a rollback would do, made at the token the run is at; it changes nothing. `at` is that token: with the next one
 * the plan is asked for anew.
 */
export function useRollbackPlan(
  run: string,
  { node, scope, only, at }: { node: string; scope?: RollbackScope; only?: RollbackOnly; at: number },
) {
  return useQuery({
    queryKey: [...keys.rollbackPlan(run, node, `${scope ?? ''} ${only ?? ''}`), at],
    queryFn: ({ signal }) =>
      api<RollbackPlanView>(`/runs/${run}/rollback-plans`, {
        method: 'POST',
        body: { node, scope, only },
        signal,
      }),
    enabled: at > 0,
    // The plan before stays in sight, and is marked as such, until its successor is here.
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
}

/**
 * The plan that a page shows when nobody chose a scope: the step and all that followed, which is what "back to before
 * this" says. Where that may not be, the step alone, if it may.
 */
export function usePreselectedPlan(run: string, wish: Parameters<typeof useRollbackPlan>[1]) {
  const wide = useRollbackPlan(run, { ...wish, scope: wish.scope ?? 'sub_dag' })
  const { forbidden, scopes = [] } = wide.data ?? {}
  const mayBeSingle = scopes.some((one) => one.scope === 'single' && one.forbidden === undefined)
  const isNarrow = wish.scope === undefined && forbidden !== undefined && mayBeSingle
  const narrow = useRollbackPlan(run, { ...wish, scope: 'single', at: isNarrow ? wish.at : 0 })
  return isNarrow ? narrow : wide
}

export interface RollbackWish {
  node: string
  scope: RollbackScope
  only?: RollbackOnly
  digest: string
  reason: string
  /** Puts back what somebody else changed since, too. */
  overwrite?: true
  /** Seconds it may take; absent: the usual minute. */
  deadline_s?: number
  /** One for each plan and reason: the same pressed twice is one rollback. */
  idempotencyKey: string
}

/** Executes the plan with that digest, or nothing: `rollback_plan_changed` means that the world moved. */
export function useRollBack(run: string) {
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: RollbackWish) =>
      api<RollbackView>(`/runs/${run}/rollbacks`, { method: 'POST', body, idempotencyKey }),
  })
}

/** After a rollback: ends the run, or goes on from before the step. */
export function useRollbackChoice(run: string) {
  return useMutation({
    mutationFn: ({ rollback, choice }: { rollback: string; choice: 'end' | 'go_on' }) =>
      api<unknown>(`/runs/${run}/rollbacks/${rollback}/choice`, { method: 'POST', body: { choice } }),
  })
}

export interface FlagWish {
  node: string
  visit: number
  reason: string
  /** One for each finding: the same sent twice is one. */
  idempotencyKey: string
}

/** Calls what a finished step gave wrong. Takes nothing back; what came of it arrives as tokens. */
export function useFlag(run: string) {
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: FlagWish) =>
      api<FlagView>(`/runs/${run}/flag`, { method: 'POST', body, idempotencyKey }),
  })
}

/** Gives a state that waits for it, or a hybrid one at work, its event. What comes of it arrives as tokens. */
export function useGiveEvent(run: string) {
  return useMutation({
    mutationFn: ({
      idempotencyKey,
      ...body
    }: {
      event: string
      node: string
      comment: string
      idempotencyKey: string
    }) => api<unknown>(`/runs/${run}/events`, { method: 'POST', body, idempotencyKey }),
  })
}
