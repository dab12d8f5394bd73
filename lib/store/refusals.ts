import { Problem } from '@/lib/base/problem'
import type { Commit, IdempotentAnswer } from '@/lib/engine/ports'
import { maxRowsPerCommit, maxValueBytes } from './store'

/*
 * What a store says when it refuses, so that every store says the same.
 */

/** The run has another number of tokens than the commit was decided on. */
export function sequenceTaken(commit: Commit, found: number | undefined): Problem {
  const { runId, expectedSeq } = commit
  if (commit.create) {
    return new Problem(
      'sequence_taken',
      `${runId} was already started; its first commit came from elsewhere`,
      {
        runId,
        expectedSeq,
        foundSeq: found,
      },
    )
  }
  return new Problem(
    'sequence_taken',
    `${runId} has ${found} tokens and the commit was decided at ${expectedSeq}; fold the new ones and decide again`,
    { runId, expectedSeq, foundSeq: found },
  )
}

/** The circuit has another number of tokens than its change was decided on. */
export function circuitMoved(circuit: string, expected: number, found: number): Problem {
  return new Problem(
    'sequence_taken',
    `The breaker ${circuit} has ${found} tokens and the change was decided at ${expected}; read it and decide again`,
    { circuit, expectedSeq: expected, foundSeq: found },
  )
}

/** Another circuit's probe of the same downstream is out. */
export function probeTaken(downstream: string, until: number): Problem {
  return new Problem(
    'probe_taken',
    `Another probe of ${downstream} is out until ${new Date(until).toISOString()}; one goes at a time`,
    { downstream, until },
  )
}

/** Probes of the downstream are held while people are asked about it. */
export function probeHeld(downstream: string): Problem {
  return new Problem('probe_held', `Probes of ${downstream} are held until a person decides`, { downstream })
}

export function runUnknown(runId: string): Problem {
  return new Problem('not_found', `There is no run ${runId} in this store`, { runId })
}

export function leaseLost(commit: Commit, holder: { owner: string | null; epoch: number }): Problem {
  const { lease } = commit
  const runId = lease?.runId ?? commit.runId
  const now =
    holder.owner === null ? 'nobody holds it' : `${holder.owner} holds it under epoch ${holder.epoch}`
  return new Problem(
    'lease_lost',
    `${lease?.owner} no longer holds the lease on ${runId} of epoch ${lease?.epoch}: ${now}; its work is dropped`,
    { runId, epoch: lease?.epoch, holder: holder.owner, holderEpoch: holder.epoch },
  )
}

/**
 * A key that has an answer. With the same request the writer lost a race against itself: `data.sameRequest` is true and
 * `LedgerStore.answer` has what to say.
 */
export function keyReused(answer: IdempotentAnswer, remembered: { requestHash: string }): Problem {
  const sameRequest = remembered.requestHash === answer.requestHash
  return new Problem(
    'idempotency_key_reused',
    sameRequest
      ? `The request with the idempotency key "${answer.key}" was answered already; ask for that answer`
      : `The idempotency key "${answer.key}" was used for another request; use a fresh key for a new request`,
    { key: answer.key, sameRequest },
  )
}

export function duplicateJti(commit: Commit, jti: string): Problem {
  return new Problem(
    'ect_duplicate_jti',
    `${commit.runId} has a token ${jti} already; a token id serves once in a run`,
    {
      runId: commit.runId,
      jti,
    },
  )
}

export function valueTooLarge(bytes: number): Problem {
  return new Problem(
    'too_large',
    `The value has ${bytes} bytes and the store takes at most ${maxValueBytes}; keep it outside and store a reference`,
    { bytes, maxBytes: maxValueBytes },
  )
}

export function readOnly(file: string): Problem {
  return new Problem(
    'store_read_only',
    `${file} was opened for reading only, so nothing was written; this command does not write`,
    { file },
  )
}

/**
 * Holds a commit to its own form, before anything is written. Throws a RangeError: a broken commit is a mistake of the
 * engine, not of a person. Throws Problem `too_large` for a value past the bound.
 */
export function checkCommit(commit: Commit): void {
  const { runId, expectedSeq, rows } = commit
  if (commit.create && (expectedSeq !== 0 || commit.create.runId !== runId)) {
    throw new RangeError(
      `The first commit of ${runId} expects ${expectedSeq} tokens and creates ${commit.create.runId}`,
    )
  }
  if (rows.length > maxRowsPerCommit) {
    throw new RangeError(`A commit of ${rows.length} rows; the bound is ${maxRowsPerCommit}`)
  }
  for (const [index, row] of rows.entries()) {
    if (row.runId !== runId || row.seq !== expectedSeq + index + 1) {
      throw new RangeError(
        `Row ${index} of a commit to ${runId} at ${expectedSeq} is ${row.runId} number ${row.seq}; expected number ${expectedSeq + index + 1}`,
      )
    }
  }
  for (const value of commit.values) {
    if (value.bytes.byteLength > maxValueBytes) throw valueTooLarge(value.bytes.byteLength)
  }
}
