import type { JsonObject } from '@/lib/base/json'

/** The claims of an Execution Context Token, in the spelling Holdpoint writes (NOTES 1). Times are whole seconds. */
export interface Claims {
  iss: string
  aud: string | string[]
  iat: number
  exp: number
  jti: string
  /** UUID of the run. */
  wid: string
  exec_act: string
  par: string[]
  inp_hash?: string
  out_hash?: string
  ext?: JsonObject
}
