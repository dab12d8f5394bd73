/* Runs in a worker: our own layout of graphs that would hold a page up for longer than it may be. */
import { layeredLayout } from '@/lib/view/layered-layout'
import type { GraphLayout, LayoutInput } from '@/lib/view/layout-terms'

const scope = self as unknown as {
  onmessage: (event: MessageEvent<LayoutInput>) => void
  postMessage: (layout: GraphLayout) => void
}

scope.onmessage = ({ data }) => scope.postMessage(layeredLayout(data))
