'use client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { AgentPoolWish, HerePoolWish, PoolList } from '@/lib/view/pool-wire'
import { api } from './api'
import { keys } from './keys'

/** Every pool and who is in it. Processes tell of themselves once a second and nothing pushes it, so it is asked as often while the page is in sight. */
export function usePools() {
  return useQuery({
    queryKey: keys.pools,
    queryFn: ({ signal }) => api<PoolList>('/pools', { signal }),
    refetchInterval: 1_000,
  })
}

/** Sets the bounds of a pool. */
export function usePutPool(name: string) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: (body: AgentPoolWish | HerePoolWish) =>
      api<PoolList>('/pools', { method: 'PUT', body, query: { name } }),
    onSuccess: (list) => client.setQueryData(keys.pools, list),
  })
}
