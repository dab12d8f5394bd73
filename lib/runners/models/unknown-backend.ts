import { EffectFailed } from '@/lib/runners/runner'

/** What says that nobody is called so, and who is. */
export function unknownBackend(name: string, known: readonly string[]): EffectFailed {
  const names = known.length > 0 ? known.join(', ') : 'none'
  return new EffectFailed(
    'backend_unknown',
    `The model backend "${name.slice(0, 80)}" is not configured; known backends: ${names}.`,
    { errorType: 'constraint_violation' },
  )
}
