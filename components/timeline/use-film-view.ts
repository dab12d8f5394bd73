'use client'
/*
 * What part of the film is in sight, and how wide it is drawn. All of it until somebody looks closer; then the stretch of
 * time they chose stays put while the run goes on and the film gets longer.
 */
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { brushed, following, panned, zoomed } from '@/lib/view/timeline/scale'
import type { Scale, View } from '@/lib/view/timeline/terms'

export interface FilmView {
  /** For the element whose width the tracks have. */
  measure: (element: HTMLElement | null) => void
  view: View
  isWhole: boolean
  /** Above 1: closer. `x` is the px that stays where it is; the middle without. */
  zoom: (factor: number, x?: number) => void
  pan: (byPx: number) => void
  /** Between two places of the scale. */
  brush: (one: number, other: number) => void
  showAll: () => void
  /** Moves no further than it must so that this moment is in sight. */
  reveal: (at: number) => void
}

export function useFilmView(scale: Scale): FilmView {
  const [widthPx, setWidth] = useState(0)
  const [span, setSpan] = useState<{ fromAt: number; toAt: number }>()
  const observer = useRef<ResizeObserver>(undefined)
  const measure = useCallback((element: HTMLElement | null) => {
    observer.current?.disconnect()
    if (!element) return
    observer.current = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.current.observe(element)
    setWidth(Math.floor(element.getBoundingClientRect().width))
  }, [])

  const view = useMemo<View>(() => {
    if (!span) return { from: 0, to: 1, widthPx }
    return { from: scale.placeOf(span.fromAt), to: scale.placeOf(span.toAt), widthPx }
  }, [span, scale, widthPx])
  const now = useRef({ view, scale })
  useLayoutEffect(() => {
    now.current = { view, scale }
  })

  const show = useCallback((next: View) => {
    const { scale } = now.current
    now.current = { scale, view: next }
    const whole = next.from <= 1e-9 && next.to >= 1 - 1e-9
    setSpan(whole ? undefined : { fromAt: scale.timeAt(next.from), toAt: scale.timeAt(next.to) })
  }, [])
  return useMemo(
    () => ({
      measure,
      view,
      isWhole: span === undefined,
      zoom: (factor, x) =>
        show(zoomed(now.current.scale, now.current.view, factor, x ?? now.current.view.widthPx / 2)),
      pan: (byPx) => show(panned(now.current.view, byPx)),
      brush: (one, other) => show(brushed(now.current.scale, now.current.view, one, other)),
      showAll: () => setSpan(undefined),
      reveal: (at) => {
        const next = following(now.current.scale, now.current.view, at)
        if (next !== now.current.view) show(next)
      },
    }),
    [measure, view, span, show],
  )
}
