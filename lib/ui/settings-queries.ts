'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type {
  ApiTokenRow,
  InvitationLink,
  NewApiToken,
  NewPerson,
  PersonRow,
  SessionRow,
} from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { api } from './api'
import { keys } from './keys'

/*
 * People and one's own account. Nothing streams these, so a screen asks again whenever it is opened. Answers
 * that hold a secret are kept nowhere: `gcTime: 0` drops them with the dialog that showed them.
 */
const whenOpened = { staleTime: 0, refetchOnWindowFocus: true } as const
const keptNowhere = { gcTime: 0 } as const

export function usePeople() {
  return useQuery({
    queryKey: keys.people,
    queryFn: ({ signal }) => api<Page<PersonRow>>('/people', { signal }),
    ...whenOpened,
  })
}

/** Adds a person without a password; the answer holds their one-time link. */
export function useInvite() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { name: string; roles: string[] }) =>
      api<NewPerson>('/people', { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.people }),
    ...keptNowhere,
  })
}

/** A new one-time link for someone who is known. */
export function useNewLink() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      api<InvitationLink>(`/people/${encodeURIComponent(id)}/invitation`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.people }),
    ...keptNowhere,
  })
}

export function useChangePerson() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ id, ...body }: { id: string; roles?: string[]; disabled?: boolean }) =>
      api<PersonRow>(`/people/${encodeURIComponent(id)}`, { method: 'PATCH', body }),
    onSettled: () => {
      void client.invalidateQueries({ queryKey: keys.me })
      return client.invalidateQueries({ queryKey: keys.people })
    },
  })
}

export function useEndPersonsSessions() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) =>
      api<{ ended: number }>(`/people/${encodeURIComponent(id)}/sessions/end`, { method: 'POST' }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.people }),
  })
}

export function useChangePassword() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { password: string; new_password: string }) =>
      api<void>('/me/password', { method: 'PATCH', body }),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.ownSessions }),
    ...keptNowhere,
  })
}

export function useOwnSessions() {
  return useQuery({
    queryKey: keys.ownSessions,
    queryFn: ({ signal }) => api<Page<SessionRow>>('/me/sessions', { signal }),
    ...whenOpened,
  })
}

/** Ends one of one's own sessions, or all but this one. */
export function useEndOwnSessions() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (which: { id: string } | 'others') =>
      which === 'others'
        ? api<void>('/me/sessions/end', { method: 'POST' })
        : api<void>(`/me/sessions/${encodeURIComponent(which.id)}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.ownSessions }),
  })
}

export function useOwnTokens() {
  return useQuery({
    queryKey: keys.ownTokens,
    queryFn: ({ signal }) => api<Page<ApiTokenRow>>('/tokens', { signal }),
    ...whenOpened,
  })
}

export function useMakeToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: { name: string; scopes: string[]; days: number }) =>
      api<NewApiToken>('/tokens', { method: 'POST', body }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.ownTokens }),
    ...keptNowhere,
  })
}

export function useRevokeToken() {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (id: string) => api<void>(`/tokens/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    onSettled: () => client.invalidateQueries({ queryKey: keys.ownTokens }),
  })
}
