import { z } from 'zod'
import type { JsonObject } from '@/lib/base/json'
import { envKey, readEnvConfig } from '@/lib/nodes/read-env'
import { denial } from '@/lib/policy/denial'
import { isOwnSetting } from './own-settings'
import { pureAction } from './pure-action'
import { actionOf, configOf, givenText, refusal } from './resolved'
import type { Runner } from './runner'

const envDo = z.strictObject({ key: envKey })

export const readEnvRunner: Runner = {
  async resolve(step) {
    const config = configOf(readEnvConfig, step.node)
    return { key: await givenText(step, 'variable', config.key, config.key_from) }
  },

  async describe(action, step, effects) {
    const { key } = actionOf(envDo, action, step.node.id)
    refuseOwn(key)
    await effects.allow({ tool: 'env.read', key })
    return { action: pureAction(step, action, { target: key, sentence: `Read the variable ${key}` }) }
  },

  async perform(action, effects) {
    const { key } = actionOf(envDo, action.do, action.node)
    refuseOwn(key)
    await effects.allow({ tool: 'env.read', key })
    const value = Object.hasOwn(process.env, key) ? process.env[key] : undefined
    const output: JsonObject = value === undefined ? { key, value: null, missing: true } : { key, value }
    return { output }
  },
}

/** Holdpoint's own settings say where its keys and its data lie; no workflow's policy can hand those out. */
function refuseOwn(key: string): void {
  if (!isOwnSetting(key)) return
  const reason = 'it is a setting of Holdpoint itself, which no workflow reads'
  const { code, sentence } = denial({ tool: 'env.read', key }, 'own settings', reason)
  throw refusal(code, sentence)
}
