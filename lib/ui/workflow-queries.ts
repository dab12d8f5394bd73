'use client'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Json } from '@/lib/base/json'
import type { PolicyCheck, Validation, WorkflowDetail } from '@/lib/view/workflow-wire'
import type { ToolBinding } from '@/lib/workflow/graph'
import { api } from './api'
import { keys } from './keys'

/** What a workflow text is sent as; the server tells the format from the text and the file's name. */
export const workflowMediaType = 'application/atd-workflow+json'

/** One version: it never changes, so it is asked for once. */
export function useWorkflow(version: string) {
  return useQuery({
    queryKey: keys.workflow(version),
    queryFn: ({ signal }) => api<WorkflowDetail>(`/workflows/${version}`, { signal }),
  })
}

/** Every fault of a text at its place, and the graph when it can be read. Nothing is stored. */
export function useValidation(text: string, filename: string | undefined) {
  return useQuery({
    queryKey: ['validation', filename ?? '', text],
    queryFn: ({ signal }) =>
      api<Validation>('/workflows/validate', {
        method: 'POST',
        body: text,
        mediaType: workflowMediaType,
        query: { filename },
        onlyAsks: true,
        signal,
      }),
    enabled: text.trim() !== '',
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
}

/** Stores a text as a version; the same text again is the same version, and `isNew` is false. */
export function useImport() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: async ({ text, filename }: { text: string; filename: string | undefined }) => {
      let isNew = true
      const stored = await api<WorkflowDetail>('/workflows', {
        method: 'POST',
        body: text,
        mediaType: workflowMediaType,
        query: { filename },
        onStatus: (status) => {
          isNew = status === 201
        },
      })
      return { stored, isNew }
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.workflows }),
  })
}

export interface BindWish {
  tool: string
  binding: ToolBinding | null
  newest: string
  idempotencyKey: string
}

/** Binds a tool of a pack: its text with that binding is a new version, and what was found in it comes along. */
export function useBindTool(version: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: BindWish) =>
      api<WorkflowDetail>(`/workflows/${version}/bindings`, { method: 'POST', body, idempotencyKey }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.workflows }),
  })
}

/** A call as the policy is asked about it: the tool, and what it acts on under the tool's own name for it. */
export type CallWish = { tool: string } & Record<string, string>

/** Would the workflow's policy allow this call? Nothing is done. */
export function usePolicyCheck(version: string) {
  return useMutation({
    mutationFn: (call: CallWish) =>
      api<PolicyCheck>(`/workflows/${version}/policy-check`, { method: 'POST', body: call, onlyAsks: true }),
  })
}

export interface StartWish {
  workflow: string
  input: Json
  dryRun: boolean
  /** Name of a start, where there are several. */
  start?: string | undefined
  idempotencyKey: string
}

/** Starts a run; it is durable when the answer comes. */
export function useStartRun() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ workflow, input, dryRun, start, idempotencyKey }: StartWish) =>
      api<{ id: string }>('/runs', {
        method: 'POST',
        body: { workflow, input, dry_run: dryRun, start },
        idempotencyKey,
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.runs }),
  })
}

/** Where the text is downloaded from, as it was imported. */
export function workflowExportUrl(version: string): string {
  return `/api/v1/workflows/${encodeURIComponent(version)}/export`
}
