'use client'
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type {
  CircuitDetail,
  CircuitList,
  CircuitProbed,
  CircuitRow,
  ForceCircuit,
  LiftCircuit,
} from '@/lib/view/circuit-wire'
import { api } from './api'
import { keys } from './keys'
import { useNow } from './now'

/** Every breaker that had a call lately, is not closed, or is forced. */
export function useCircuits() {
  return useQuery({
    queryKey: keys.circuitList,
    queryFn: ({ signal }) => api<CircuitList>('/circuits', { signal }),
  })
}

/** One breaker with its history, newest first, page by page. */
export function useCircuit(id: string | undefined) {
  return useInfiniteQuery({
    queryKey: keys.circuit(id ?? ''),
    queryFn: ({ signal, pageParam }) =>
      api<CircuitDetail>(`/circuits/${encodeURIComponent(id ?? '')}`, {
        signal,
        query: { cursor: pageParam ?? undefined },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last) => last.next ?? null,
    enabled: id !== undefined,
  })
}

interface Written {
  idempotencyKey: string
}

/** Forces a breaker open or closed until a time; it lapses by itself. */
export function useForceCircuit(id: string) {
  return useForcing<ForceCircuit>(id, 'force')
}

/** Takes back what a person forced. */
export function useLiftCircuit(id: string) {
  return useForcing<LiftCircuit>(id, 'lift')
}

/** Has the one probe go now, where no run calls; answers with what came of it. */
export function useProbeCircuit(id: string) {
  return useWrite<object, CircuitProbed>(id, 'probe', ({ circuit }) => circuit)
}

function useForcing<Body>(id: string, act: 'force' | 'lift') {
  return useWrite<Body, CircuitRow>(id, act, (row) => row)
}

function useWrite<Body, Answer>(
  id: string,
  act: 'force' | 'lift' | 'probe',
  rowOf: (answer: Answer) => CircuitRow,
) {
  const client = useQueryClient()
  return useMutation({
    mutationFn: ({ idempotencyKey, ...body }: Body & Written) =>
      api<Answer>(`/circuits/${encodeURIComponent(id)}/${act}`, { method: 'POST', body, idempotencyKey }),
    onSuccess: (answer) => {
      const row = rowOf(answer)
      // At once: the list itself is read anew behind it.
      client.setQueryData<CircuitList>(
        keys.circuitList,
        (old) => old && { ...old, items: old.items.map((one) => (one.id === row.id ? row : one)) },
      )
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.circuits }),
  })
}

/**
 * Now by the server's clock, in ms since the epoch: what counts down to a moment that the server named must not trust
 * the clock of a laptop. `said` is what the server's clock was when its answer came here (`heardAt`).
 */
export function useServerNow(said: number | undefined, heardAt: number, stepMs = 1000): number {
  const now = useNow(stepMs)
  return said === undefined || heardAt === 0 ? now : now + (said - heardAt)
}
