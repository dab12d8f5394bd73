import type { GraphLayout, Point } from '@/lib/view/layout-terms'
import type { GraphIndex } from '@/lib/workflow/graph-index'

export type ArrowKey = 'ArrowLeft' | 'ArrowRight' | 'ArrowUp' | 'ArrowDown'

export function isArrowKey(key: string): key is ArrowKey {
  return key === 'ArrowLeft' || key === 'ArrowRight' || key === 'ArrowUp' || key === 'ArrowDown'
}

/**
 * Where an arrow key leads from a node: right to a child and left to a parent along an edge, the one nearest in height;
 * up and down to the next node of the same column. Undefined where there is nothing that way.
 */
export function nodeTowards(
  key: ArrowKey,
  from: string,
  index: Pick<GraphIndex, 'parents' | 'children'>,
  layout: GraphLayout,
): string | undefined {
  const here = layout.nodes.get(from)
  if (!here) return undefined
  switch (key) {
    case 'ArrowRight':
      return nearest(index.children.get(from) ?? [], here, layout)
    case 'ArrowLeft':
      return nearest(index.parents.get(from) ?? [], here, layout)
    case 'ArrowUp':
    case 'ArrowDown': {
      const up = key === 'ArrowUp'
      const column = [...layout.nodes]
        .filter(([id, point]) => id !== from && Math.abs(point.x - here.x) < 4 && point.y < here.y === up)
        .map(([id]) => id)
      return nearest(column, here, layout)
    }
    default:
      return key satisfies never
  }
}

function nearest(ids: readonly string[], here: Point, layout: GraphLayout): string | undefined {
  const far = (id: string) => Math.abs((layout.nodes.get(id)?.y ?? Number.POSITIVE_INFINITY) - here.y)
  return [...ids].sort((a, b) => far(a) - far(b))[0]
}
