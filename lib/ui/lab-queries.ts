'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { LabView, MakeFail } from '@/lib/view/lab-wire'
import { ApiProblem, api } from './api'

const key = ['lab'] as const

/** The lab and what its agents were made to do wrong; null where there is no lab. */
export function useLab() {
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => {
      try {
        return await api<LabView>('/lab', { signal })
      } catch (error) {
        if (error instanceof ApiProblem && error.status === 404) return null
        throw error
      }
    },
    staleTime: 60_000,
    retry: false,
  })
}

/** Makes an agent of the lab fail, or sets it right. */
export function useMakeFail(name: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (fault: MakeFail) =>
      api<LabView>(`/lab/agents/${encodeURIComponent(name)}/fault`, { method: 'POST', body: fault }),
    onSuccess: (lab) => client.setQueryData<LabView>(key, lab),
  })
}
