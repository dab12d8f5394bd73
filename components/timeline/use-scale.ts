'use client'
import { useRef } from 'react'
import { useNow } from '@/lib/ui/now'
import type { ScaleMaker } from '@/lib/view/timeline/scale'
import type { Scale } from '@/lib/view/timeline/terms'

const minute = 60_000

/** How often the end of a film that lasts so long moves on: often enough to be seen, and no more. */
function stepMs(lastedMs: number): number {
  if (lastedMs > 60 * minute) return 30_000
  return lastedMs > 10 * minute ? 5_000 : 1_000
}

/** The film's scale. While the page follows a run under way it ends now; when somebody looks back, it stands still. */
export function useScale(maker: ScaleMaker, live: boolean, following: boolean): Scale {
  const lasted = useRef(0)
  const now = useNow(stepMs(lasted.current))
  const until = useRef(0)
  if (!live) until.current = 0
  else if (following) until.current = now
  const scale = maker.scale(until.current === 0 ? {} : { until: until.current })
  lasted.current = scale.toAt - scale.fromAt
  return scale
}
