import { systemClock } from '@/lib/base/clock'
import { compileRego } from '@/lib/policy/rego/rego'
import { Opa, type OpaOptions } from '@/lib/runners/opa'
import { Policies } from '@/lib/runners/policy-gate'

export interface PolicySetting {
  authoredFolders?: readonly string[]
  unconfined?: boolean
  /** By default what HOLDPOINT_OPA_URL and HOLDPOINT_OPA_TOKEN name; without them Rego is evaluated here. */
  opa?: OpaOptions
}

/** The policies of an installation, or of one command. */
export function policiesOf({
  authoredFolders = [],
  unconfined = false,
  ...setting
}: PolicySetting): Policies {
  const { HOLDPOINT_OPA_URL: url, HOLDPOINT_OPA_TOKEN: token } = process.env
  const opa = setting.opa ?? (url ? { url, ...(token ? { token } : {}) } : undefined)
  return new Policies({
    authoredFolders,
    unconfined,
    compile: compileRego,
    ...(opa ? { opa: new Opa(opa) } : {}),
    now: () => systemClock.now(),
  })
}
