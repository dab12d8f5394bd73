'use client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { ExportContents } from '@/lib/view/bundle-wire'
import { api } from './api'
import { keys } from './keys'

/** What is chosen about a bundle before it is made. */
export interface ExportWish {
  /** The ledgers of the runs it was forked from too. */
  forks: boolean
  /** Values of more bytes stay out; absent: all go in. */
  maxValueBytes?: number
}

/** What a bundle would hold, and how large it would be. It is counted anew each time somebody asks. */
export function useExportContents(run: string, wish: ExportWish) {
  return useQuery({
    queryKey: keys.exportContents(run, wish.forks, wish.maxValueBytes),
    queryFn: ({ signal }) =>
      api<ExportContents>(`/runs/${run}/export/contents`, { signal, query: queryOf(wish) }),
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  })
}

/** Where the bundle is downloaded from: a link, so that the browser saves it and shows how far it is. */
export function exportUrl(run: string, wish: ExportWish): string {
  const query = new URLSearchParams(
    Object.entries(queryOf(wish)).map(([name, value]) => [name, String(value)]),
  )
  return `/api/v1/runs/${encodeURIComponent(run)}/export${query.size > 0 ? `?${query}` : ''}`
}

function queryOf({ forks, maxValueBytes }: ExportWish): Record<string, string | number> {
  return {
    ...(forks && { forks: 'true' }),
    ...(maxValueBytes !== undefined && { max_value_bytes: maxValueBytes }),
  }
}
