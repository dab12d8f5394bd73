/*
 * Where named secrets are found: an environment variable or a file, as the workflow declares them (agentd's
 * `[[secrets]]`). Looked up each time one is needed, so that a rotated secret counts from the next request on, and kept
 * nowhere.
 *
 * A workflow says where its secrets stand, and it may come from somebody who may write workflows and read nothing else
 * here. So files count only inside the folders the installation keeps secrets in, symlinks resolved, and Holdpoint's own
 * settings are nobody's secrets. On a person's own command line the files are that person's, and any may be named.
 */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { liesIn } from '@/lib/policy/roots'
import type { SecretSource } from '@/lib/workflow/graph'
import { findFile } from './file-state'
import { isOwnSetting } from './own-settings'
import { refusal } from './resolved'
import { EffectFailed, type Effects } from './runner'
import { textOf } from './words'

/** Largest file that is taken for a secret. */
const maxSecretBytes = 65_536

export interface SecretPlaces {
  env(name: string): string | undefined
  /** Folders that files with secrets lie in. */
  folders: readonly string[]
  /** True where the user may name any file: on the user's own command line. */
  unconfined: boolean
}

/**
 * `Effects.secret` of a workflow: the value of a declared secret, or undefined when none of that name is declared or it
 * has no value. Throws EffectFailed `secret_unreadable` with the secret's name, never with what was found.
 */
export function secretsOf(declared: readonly SecretSource[], places: SecretPlaces): Effects['secret'] {
  return async (name) => {
    const source = declared.find((one) => one.name === name)
    if (!source) return undefined
    if ('file' in source.from) return fileSecret(name, source.from.file, places)
    if (isOwnSetting(source.from.env)) throw unreadable(name, 'it names a setting of Holdpoint itself')
    return places.env(source.from.env) || undefined
  }
}

async function fileSecret(name: string, file: string, places: SecretPlaces): Promise<string | undefined> {
  const real = await realpath(file).catch(() => undefined)
  if (real === undefined) return undefined
  if (!places.unconfined && !(await liesInOne(real, places.folders))) {
    throw unreadable(name, 'its file lies outside the folders this installation keeps secrets in')
  }
  const place = { name, path: real, existing: path.dirname(real), missing: [], leaf: path.basename(real) }
  const found = await findFile(place, maxSecretBytes).catch((error: unknown) => {
    if (error instanceof EffectFailed) throw unreadable(name, `its file cannot be read (${error.code})`)
    throw error
  })
  const text = found && textOf(found.bytes)
  if (found && text === undefined) throw unreadable(name, 'its file holds no UTF-8 text')
  // Editors and `echo` end a file with a line break that is not meant.
  return text?.replace(/\r?\n$/, '') || undefined
}

async function liesInOne(real: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const stands = await realpath(folder).catch(() => undefined)
    if (stands !== undefined && liesIn(real, stands)) return true
  }
  return false
}

function unreadable(name: string, why: string): EffectFailed {
  return refusal('secret_unreadable', `The secret "${name}" cannot be used: ${why}; nothing was sent.`)
}
