/** [budget] → what a run may use. */
import { isJsonObject, type Json, type JsonObject } from '@/lib/base/json'
import type { Budget } from '@/lib/workflow/graph'
import type { GraphPath } from '@/lib/workflow/graph-problem'
import type { Tell } from '../tell'
import { fits, placeWords } from './refusals'
import * as shapes from './shapes'

export const bytesPerMb = 1_048_576

/*
 * A zero means "no bound" in agentd for time and files; the graph says that by having none. The zeros are kept aside,
 * so that the text comes back with them.
 */
export function readBudget(
  source: Json | undefined,
  path: GraphPath,
  tell: Tell,
): { budget: Budget; extra: JsonObject } {
  const none = { budget: {}, extra: {} }
  if (source === undefined || (!fits(shapes.budget, source, path, tell) && !isJsonObject(source))) return none
  const budget: Budget = {}
  const extra: JsonObject = {}
  for (const [name, value] of Object.entries(source as JsonObject)) {
    if (!isBudgetName(name) || typeof value !== 'number' || !Number.isInteger(value) || value < 0) continue
    if (value === 0) {
      extra[name] = 0
      tell({
        path: [...path, name],
        code: 'budget_zero',
        severity: 'warning',
        message: `${placeWords([...path, name])} is 0, which stands for no bound of its own.`,
        mend: 'Write a bound, or leave it out.',
      })
    } else if (name === 'max_fs_write_mb') budget.maxWriteBytes = value * bytesPerMb
    else budget[budgetWords[name]] = value
  }
  return { budget, extra }
}

function isBudgetName(name: string): name is keyof typeof budgetWords | 'max_fs_write_mb' {
  return name === 'max_fs_write_mb' || Object.hasOwn(budgetWords, name)
}

export const budgetWords = {
  max_memory_mb: 'maxMemoryMb',
  max_cpu_secs: 'maxCpuS',
  max_run_time_secs: 'maxRunS',
  max_llm_tokens: 'maxModelTokens',
} as const satisfies Record<string, keyof Budget>
