import { Problem } from '@/lib/base/problem'
import { type CheckpointLimits, usualCheckpointLimits } from '@/lib/engine/checkpoint-ports'

/**
 * Bounds of checkpoints for one workflow: HOLDPOINT_MAX_CHECKPOINTS at a time, HOLDPOINT_CHECKPOINTS_PER_MINUTE. Throws
 * Problem `bad_request` for what is no number.
 */
export function checkpointLimitsInEnv(
  env: Readonly<Record<string, string | undefined>> = process.env,
): CheckpointLimits {
  return {
    live: boundOf(env, 'HOLDPOINT_MAX_CHECKPOINTS', usualCheckpointLimits.live),
    perMinute: boundOf(env, 'HOLDPOINT_CHECKPOINTS_PER_MINUTE', usualCheckpointLimits.perMinute),
  }
}

function boundOf(env: Readonly<Record<string, string | undefined>>, name: string, usual: number): number {
  const text = env[name]?.trim() ?? ''
  if (text === '') return usual
  const bound = Number(text)
  if (Number.isSafeInteger(bound) && bound >= 1) return bound
  throw new Problem(
    'bad_request',
    `${name} is ${JSON.stringify(text.slice(0, 40))}; a whole number from 1 was expected`,
  )
}
