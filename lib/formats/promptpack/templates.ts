/*
 * What prompts say: `{{name}}` is a variable, `{{artifacts.name}}` an artifact, `{{fragments.name}}` a fragment. A
 * fragment is the author's own text, so it is put in when the pack is read; `{{name}}` alone means the fragment as well
 * where no variable of the prompt has that name. Variables and artifacts are filled when the prompt is sent, and what
 * they bring along is never expanded.
 */
import { maxTemplateChars } from '@/lib/nodes/prompt-state'
import { markersOf } from '@/lib/nodes/template'

export type FragmentFault =
  | { kind: 'cycle'; names: string[] }
  | { kind: 'unknown'; name: string; within?: string }
  | { kind: 'too_deep'; name: string }
  | { kind: 'too_long'; name: string }

export interface Expanded {
  text: string
  faults: FragmentFault[]
}

/** Puts fragments into texts. Each fragment is expanded once, however often it is used. */
export function fragmentExpander(fragments: ReadonlyMap<string, string>) {
  const done = new Map<string, Expanded>()
  const open: string[] = []

  const expand = (template: string, taken: ReadonlySet<string>, within?: string): Expanded => {
    const pieces: string[] = []
    const faults: FragmentFault[] = []
    let at = 0
    let chars = 0
    const add = (piece: string) => {
      chars += piece.length
      if (chars <= maxTemplateChars) pieces.push(piece)
    }
    for (const { start, end, key } of markersOf(template)) {
      const name = fragmentName(key, fragments, taken)
      if (name === undefined) continue
      add(template.slice(at, start))
      at = end
      if (!fragments.has(name)) {
        faults.push({ kind: 'unknown', name, ...(within === undefined ? {} : { within }) })
        add(template.slice(start, end))
        continue
      }
      const fragment = fragmentText(name)
      faults.push(...fragment.faults.slice(0, 1))
      add(fragment.text)
    }
    add(template.slice(at))
    if (chars > maxTemplateChars) faults.push({ kind: 'too_long', name: within ?? '' })
    return { text: pieces.join(''), faults }
  }

  const fragmentText = (name: string): Expanded => {
    const known = done.get(name)
    if (known) return known
    const seen = open.indexOf(name)
    if (seen >= 0) return { text: '', faults: [{ kind: 'cycle', names: [...open.slice(seen), name] }] }
    if (open.length >= maxFragmentDepth) return { text: '', faults: [{ kind: 'too_deep', name }] }
    open.push(name)
    const expanded = expand(fragments.get(name) ?? '', new Set(), name)
    open.pop()
    done.set(name, expanded)
    return expanded
  }

  /** A prompt's template with its fragments in place. `taken` are names that mean something else there. */
  return (template: string, taken: ReadonlySet<string>): Expanded => expand(template, taken)
}

/** The fragment a marker names, be there one of that name or not; undefined for variables and artifacts. */
function fragmentName(
  key: string,
  fragments: ReadonlyMap<string, string>,
  taken: ReadonlySet<string>,
): string | undefined {
  if (key.startsWith(fragmentPrefix)) return key.slice(fragmentPrefix.length)
  return !taken.has(key) && fragments.has(key) ? key : undefined
}

/** Fragments inside fragments. */
export const maxFragmentDepth = 32

const fragmentPrefix = 'fragments.'
const artifactPrefix = 'artifacts.'

export interface TemplateNames {
  /** Names of run values: the part before the first dot. */
  variables: string[]
  artifacts: string[]
  /** Markers of richer template languages, which are sent as they stand. */
  foreign: string[]
}

const plainKey = /^[A-Za-z_][\w-]*(?:\.[\w-]+|\[\d+\])*$/

/** What a template with its fragments in place asks for, each name once. */
export function namesIn(template: string): TemplateNames {
  const variables = new Set<string>()
  const artifacts = new Set<string>()
  const foreign = new Set<string>()
  for (const { key } of markersOf(template)) {
    if (key.startsWith(artifactPrefix)) artifacts.add(key.slice(artifactPrefix.length))
    else if (key.startsWith(fragmentPrefix)) continue
    else if (plainKey.test(key)) variables.add(key.split(/[.[]/, 1)[0] ?? key)
    else foreign.add(key)
  }
  return { variables: [...variables], artifacts: [...artifacts], foreign: [...foreign] }
}
