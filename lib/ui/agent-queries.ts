'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AgentProtocol } from '@/lib/base/protocols'
import type { PoolLimits } from '@/lib/pool/terms'
import type { AgentActivity, AgentRow, PublishedKeys } from '@/lib/view/agent-wire'
import type { Page } from '@/lib/view/wire'
import { api } from './api'
import { keys } from './keys'

/** Nothing streams what agents are and when they were heard: while the page is open it asks again this often. */
const askedAgainMs = 15_000

/** The registered agents, by name. */
export function useAgents() {
  return useQuery({
    queryKey: keys.agents,
    queryFn: ({ signal }) => api<Page<AgentRow>>('/agents', { signal }),
    staleTime: 0,
    refetchInterval: askedAgainMs,
    refetchOnWindowFocus: true,
  })
}

/** What one agent did last. */
export function useAgentActivity(id: string) {
  return useQuery({
    queryKey: [...keys.agents, 'activity', id],
    queryFn: ({ signal }) => api<AgentActivity>('/agents/activity', { signal, query: { id } }),
    refetchInterval: askedAgainMs,
  })
}

export interface AgentWish {
  id: string
  name: string
  base_url: string
  jwks: unknown
  domain: string
  role: string
  protocols: AgentProtocol[]
  /** Empty: its keys are changed by hand alone. */
  jwks_url: string
  limits: Partial<PoolLimits>
  /** Changes the agent that has this id. */
  replace: boolean
}

function useAgentChange<W, A>(work: (wish: W) => Promise<A>) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: work,
    onSettled: () => client.invalidateQueries({ queryKey: keys.agents }),
  })
}

/** Registers an agent, or changes one. */
export function usePutAgent() {
  return useAgentChange((body: AgentWish) => api<{ id: string }>('/agents', { method: 'POST', body }))
}

export function useRemoveAgent() {
  return useAgentChange((id: string) => api<void>('/agents', { method: 'DELETE', query: { id } }))
}

/** Fetches the keys that an agent publishes now. */
export function useRotateKeys() {
  return useAgentChange((id: string) => api<AgentRow>('/agents/rotate', { method: 'POST', body: { id } }))
}

/** Refuses one key of an agent from now on. */
export function useRevokeKey() {
  return useAgentChange((body: { id: string; kid: string }) =>
    api<AgentRow>('/agents/revoke', { method: 'POST', body }),
  )
}

/** Has the server ask an agent for its public keys; registers nothing. */
export function useLookUpKeys() {
  return useMutation({
    mutationFn: (base_url: string) =>
      api<PublishedKeys>('/agents/keys', { method: 'POST', body: { base_url } }),
  })
}
