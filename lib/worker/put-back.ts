/*
 * What putting a step's target back would undo, made where its state is kept: the checkpoint is verified and opened in
 * memory, and held beside the target as it is now. Whoever asks has been asked first whether they may know.
 */
import type { RunId } from '@/lib/base/ids'
import { isProblem, Problem } from '@/lib/base/problem'
import type { PutBack } from '@/lib/rollback/terms'
import { EffectFailed } from '@/lib/runners/runner'
import { changedByNow, lookingAt, whomToAsk } from './changed-since'
import { snapshotOf, verified } from './plan'
import type { WorkerPorts } from './ports'

/**
 * The target now, and as a rollback to this checkpoint would make it. Throws Problem `not_found`, `target_silent` where it
 * cannot be looked at, `rollback_nothing` where nothing is put back that could be shown, and why a checkpoint does not serve. `onlyChanged`: `rollback_nothing` also where nobody else changed the target.
 */
export async function putBackOf(
  ports: WorkerPorts,
  runId: RunId,
  checkpoint: string,
  onlyChanged = false,
): Promise<PutBack> {
  const noted = await ports.book.read(runId, (run, header) => {
    const ref = run.checkpoints.get(checkpoint)
    return ref && { ref: { ...ref }, asked: whomToAsk(run, header, ref) }
  })
  if (!noted) throw new Problem('not_found', `This run has no checkpoint "${checkpoint.slice(0, 60)}"`)
  const { ref, asked } = noted
  const { state, problem } = await verified(ports, runId, ref)
  if (problem) throw problem
  const snapshot = state && snapshotOf(ref, state)
  if (onlyChanged && !(snapshot && (await changedByNow(ports, runId, ref, snapshot)))) {
    throw new Problem(
      'rollback_nothing',
      `Nobody else is known to have changed ${ref.target} since, so putting it back undoes nothing of theirs.`,
      { checkpoint },
    )
  }
  // What an agent reported has no action of ours.
  if (ref.agent !== undefined) return { of: 'agent', agent: ref.agent }
  const shown =
    snapshot && ref.undo !== 'compensate'
      ? await looked(ref.target, () =>
          lookingAt(ports, asked, ref, async (runner, action, effects) =>
            runner.undoPreview?.(action, snapshot, effects),
          ),
        )
      : undefined
  if (shown) return shown
  throw new Problem(
    'rollback_nothing',
    `Rolling "${ref.node}" back puts no state back that could be shown; its plan says what is done instead.`,
    { checkpoint },
  )
}

async function looked<T>(target: string, look: () => Promise<T>): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof EffectFailed) && !isProblem(error)) throw error
    throw new Problem(
      'target_silent',
      `${target} could not be looked at, so nobody can say what putting it back would undo: ${error.message}`,
    )
  }
}
