import os from 'node:os'
import { exitCode } from './exit-codes'
import { inKnownInstallation } from './known-installation'

export interface FlagOptions {
  reason: string
  visit?: number
  data?: string
  json?: boolean
}

/**
 * `holdpoint flag RUN NODE --reason TEXT`: records that what a finished step gave is wrong, in the name of whoever runs
 * the command, and prints the steps that were made from it. Takes nothing back. Works beside a running server.
 */
export async function flagCommand(run: string, node: string, options: FlagOptions): Promise<number> {
  const { flagStep } = await import('@/lib/server/flag')
  const { runIdFrom } = await import('@/lib/server/run-id')
  const { reason, visit } = options
  const runId = runIdFrom(run)
  return inKnownInstallation(options.data, async (house) => {
    const by = `person:${os.userInfo().username}+cli`
    const flagged = await flagStep(house, runId, {
      node,
      reason,
      by,
      ...(visit !== undefined && { visit }),
    })
    if (options.json) {
      console.log(JSON.stringify(flagged))
      return exitCode.ok
    }
    console.log(`${node} (visit ${flagged.visit}) of ${runId} counts as failed: token ${flagged.token}`)
    if (flagged.dependents.length === 0) console.log('Nothing was made from what it gave.')
    for (const { node: used, reads } of flagged.dependents) console.log(`  ${used} read ${reads.join(', ')}`)
    return exitCode.ok
  })
}
