/*
 * Property tests draw the same inputs at every run of a commit, so that a red one points at the change and not at the
 * dice. `npm run soak` looks for new trouble with new seeds; a seed it found is tried with HOLDPOINT_SEED.
 */
import fc from 'fast-check'

const named = process.env.HOLDPOINT_SEED

fc.configureGlobal({ seed: named === undefined ? 20_261_122 : Number(named) })
