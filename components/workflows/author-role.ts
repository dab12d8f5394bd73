import { satisfies } from '@/lib/hitl/roles'
import { useOpened } from '@/lib/ui/opened'
import { useMe } from '@/lib/ui/queries'

/** Why the signed-in person cannot import, as a sentence; undefined when they can, or when that is not known yet. */
export function useMayNotImport(): string | undefined {
  const me = useMe().data
  const opened = useOpened()
  if (opened) return 'A bundle is only read.'
  if (!me || satisfies(me.roles, 'author')) return undefined
  return 'Importing a workflow takes the role author, which you do not have. An administrator can give it to you.'
}
