'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { PlanChoices, PlanView, WorkflowDetail } from '@/lib/view/workflow-wire'
import { api } from './api'
import { keys } from './keys'

/** The models and configurations a goal can be planned with. */
export function usePlanChoices() {
  return useQuery({
    queryKey: keys.planChoices,
    queryFn: ({ signal }) => api<PlanChoices>('/plans', { signal }),
  })
}

export interface GoalWish {
  goal: string
  backend: string | undefined
  configuration: string | undefined
}

/** Asks a model for a plan. Nothing is run and nothing is imported. */
export function usePlanGoal() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (wish: GoalWish) => api<PlanView>('/plans', { method: 'POST', body: wish, onlyAsks: true }),
    onSuccess: (made) => {
      if (made.version) client.setQueryData(keys.plan(made.version, made.plan), made)
    },
  })
}

/** A plan that was made before, by its version and the hash it is kept under. */
export function usePlan(version: string | undefined, plan: string | undefined) {
  return useQuery({
    queryKey: keys.plan(version ?? '', plan ?? ''),
    queryFn: ({ signal }) => api<PlanView>(`/plans/${version}`, { signal, query: { plan } }),
    enabled: version !== undefined && plan !== undefined,
  })
}

/** Approves this very plan: it becomes a version of the library. */
export function useApprovePlan() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({
      version,
      plan,
      idempotencyKey,
    }: {
      version: string
      plan: string
      idempotencyKey: string
    }) =>
      api<WorkflowDetail>(`/plans/${version}/approve`, { method: 'POST', body: { plan }, idempotencyKey }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.workflows }),
  })
}
