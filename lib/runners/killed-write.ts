/*
 * A process for the tests to kill: node --import tsx lib/runners/killed-write.ts HOME ACTION
 *
 * Performs a `write_file` action (JSON) with the first attempt's key, and stands still for ever once the new bytes are
 * staged beside the file and before they are renamed over it. It says so with a line on its output.
 */
import { writeSync } from 'node:fs'
import { effectsWith, runnerFor } from './fixtures'
import type { Action } from './runner'

const [home = '', action = '{}'] = process.argv.slice(2)

/** Whether the attempt is given up is asked last, right before the renaming. */
const signal = new Proxy(new AbortController().signal, {
  get(target, member) {
    if (member !== 'aborted') return Reflect.get(target, member, target)
    writeSync(1, 'staged\n')
    return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) === 'ok'
  },
})

const effects = effectsWith({
  signal,
  grants: { roots: [{ path: 'lab', access: 'write' }] },
  installationRoots: [home],
})
await runnerFor('write_file').perform(JSON.parse(action) as Action, effects)
