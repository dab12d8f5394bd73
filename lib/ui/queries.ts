'use client'
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import type { JsonObject } from '@/lib/base/json'
import type { Verdict } from '@/lib/hitl/terms'
import type { ApprovalCard, ApprovalNow, ApprovalRow } from '@/lib/view/approval-wire'
import type { Overview } from '@/lib/view/overview-wire'
import type { Person } from '@/lib/view/person-wire'
import type { PutBackView } from '@/lib/view/rollback-wire'
import type { RunRow } from '@/lib/view/run-wire'
import type { Page } from '@/lib/view/wire'
import type { WorkflowRow } from '@/lib/view/workflow-wire'
import { api } from './api'
import { type ApprovalShow, keys, type RunFilter } from './keys'
import { approvalsPerPage, runsPerPage } from './page-sizes'

/** The signed-in person and their roles. */
export function useMe(enabled = true) {
  return useQuery({
    queryKey: keys.me,
    queryFn: ({ signal }) => api<Person>('/me', { signal }),
    enabled,
  })
}

export function useOverview() {
  return useQuery({
    queryKey: keys.overview,
    queryFn: ({ signal }) => api<Overview>('/overview', { signal }),
  })
}

export function useApprovals(show: ApprovalShow) {
  return useInfiniteQuery({
    queryKey: keys.approvalList(show),
    queryFn: ({ signal, pageParam }) =>
      api<Page<ApprovalRow>>('/approvals', {
        signal,
        query: { show, cursor: pageParam ?? undefined, limit: approvalsPerPage },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
  })
}

export function useApproval(id: string | undefined) {
  return useQuery({
    queryKey: keys.approvalCard(id ?? ''),
    queryFn: ({ signal }) => api<ApprovalCard>(`/approvals/${id}`, { signal }),
    enabled: id !== undefined,
  })
}

/** How long a look at what a step acts on holds, in ms: then whoever comes back to the page looks again. */
const lookHoldsMs = 15_000

/** What the step of an open question would do by now; asked when it is opened, and beside it: the card waits for nothing. */
export function useApprovalNow(id: string, enabled: boolean) {
  return useQuery({
    queryKey: keys.approvalNow(id),
    queryFn: async ({ client, queryKey, signal }): Promise<ApprovalNow> => {
      const now = await api<ApprovalNow>(`/approvals/${id}/now`, { signal })
      // What was seen to be changed stays so until somebody can tell.
      const before = now.silent === undefined ? undefined : client.getQueryData<ApprovalNow>(queryKey)
      return before?.changed ? { ...now, changed: before.changed } : now
    },
    enabled,
    staleTime: lookHoldsMs,
    refetchOnMount: true,
    refetchOnWindowFocus: true,
  })
}

/** What putting a target back would undo, at a path of the API. What was sealed leaves memory with the page that shows it. */
export function usePutBack(path: string) {
  return useQuery({
    queryKey: keys.putBack(path),
    queryFn: ({ signal }) => api<PutBackView>(path, { signal }),
    staleTime: 0,
    gcTime: 0,
    refetchOnReconnect: false,
  })
}

export interface Decision {
  id: string
  verdict: Verdict
  /** Digest of the action the person saw. */
  action: string
  comment: string
  edited?: JsonObject
  /** Hash of the preview on the person's screen, where it is not the question's own. */
  seen?: string
  /** With the verdict `event`: which one, and values for artifacts. */
  event?: string
  artifacts?: JsonObject
  idempotencyKey: string
}

/** Decides. The first decision wins; a later one is refused with `approval_decided`, which names who decided. */
export function useDecide() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, idempotencyKey, ...body }: Decision) =>
      api<ApprovalCard>(`/approvals/${id}/decision`, { method: 'POST', body, idempotencyKey }),
    onSuccess: (card, { id }) => {
      // At once, so that nothing decided can be decided again while the lists are read anew.
      client.setQueryData(keys.approvalCard(id), card)
      client.setQueryData<InfiniteData<Page<ApprovalRow>>>(
        keys.approvalList('open'),
        (old) =>
          old && {
            ...old,
            pages: old.pages.map((page) => ({ ...page, items: page.items.filter((row) => row.id !== id) })),
          },
      )
    },
    onSettled: (_card, _error, { id }) => {
      void client.invalidateQueries({ queryKey: keys.approvalCard(id) })
      void client.invalidateQueries({ queryKey: keys.approvalList('open') })
      void client.invalidateQueries({ queryKey: keys.approvalList('decided') })
      void client.invalidateQueries({ queryKey: keys.overview })
    },
  })
}

export function useComment(id: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (comment: string) =>
      api<ApprovalCard>(`/approvals/${id}/comments`, { method: 'POST', body: { comment } }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.approvalCard(id) }),
  })
}

export function useRuns(filter: RunFilter) {
  return useInfiniteQuery({
    queryKey: keys.runList(filter),
    queryFn: ({ signal, pageParam }) =>
      api<Page<RunRow>>('/runs', {
        signal,
        query: { ...filter, cursor: pageParam ?? undefined, limit: runsPerPage },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  })
}

export function useWorkflows(enabled = true) {
  return useQuery({
    queryKey: keys.workflows,
    queryFn: ({ signal }) => api<Page<WorkflowRow>>('/workflows', { signal }),
    enabled,
  })
}
