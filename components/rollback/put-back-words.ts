/* What putting a target back would undo, in sentences, beside its lines or sizes. Pure. */
import { type PathStand, type PutBack, putBackTextMaxBytes } from '@/lib/rollback/terms'
import { count } from '@/lib/ui/format-time'
import { agentName } from '@/lib/view/plain-words'

type OfPath = Extract<PutBack, { of: 'path' }>

/** What it comes to, in one sentence or a few. */
export function putBackWords(shown: PutBack): string {
  if (shown.of === 'agent') {
    if (shown.preview) {
      return shown.preview.now === shown.preview.after
        ? `By what ${agentName(shown.agent)} says, nothing would change.`
        : `As ${agentName(shown.agent)} tells it, which keeps the state from before the step itself.`
    }
    return `Only ${agentName(shown.agent)} knows what that would undo: it keeps the state from before the step itself, and Holdpoint has a receipt for it, with nothing to compare.`
  }
  const { now, after } = shown
  if (isAlike(now, after)) return 'It is as it was before the step again: nothing would change.'
  return [standWords(now, after), modeWords(now, after), withheldWords(shown)].filter(Boolean).join(' ')
}

/** The bytes of a file; what else there is. */
export function standsWords(stand: PathStand): string {
  switch (stand.stands) {
    case 'nothing':
      return 'Nothing is there'
    case 'folder':
      return 'A folder'
    case 'file':
      return bytesWords(stand.sizeBytes)
    default:
      return stand satisfies never
  }
}

function isAlike(now: PathStand, after: PathStand): boolean {
  if (now.stands !== 'file' || after.stands !== 'file') return now.stands === after.stands
  return now.hash === after.hash && now.mode === after.mode
}

function standWords(now: PathStand, after: PathStand): string {
  switch (after.stands) {
    case 'nothing':
      return now.stands === 'folder'
        ? 'It did not exist before the step, so the folder would be deleted, if nothing is in it.'
        : 'It did not exist before the step, so it would be deleted, with what it holds now.'
    case 'folder':
      return now.stands === 'nothing'
        ? 'The folder was deleted since and would be made again.'
        : 'A file is there now, and a folder does not take its place: the rollback would hand it to a person.'
    case 'file':
      if (now.stands === 'nothing') return 'It was deleted since and would be written again.'
      return now.stands === 'folder'
        ? 'A folder is there now, and a file does not take its place: the rollback would hand it to a person.'
        : ''
    default:
      return after satisfies never
  }
}

function modeWords(now: PathStand, after: PathStand): string {
  if (now.stands !== 'file' || after.stands !== 'file' || now.mode === after.mode) return ''
  return `Its mode would be ${after.mode} again; it is ${now.mode} now.`
}

function withheldWords({ withheld }: OfPath): string {
  switch (withheld) {
    case 'binary':
      return 'It is not text, so only sizes and hashes are compared.'
    case 'too_large':
      return `It is larger than ${putBackTextMaxBytes / 1024} KiB, so only sizes and hashes are compared.`
    case undefined:
      return ''
    default:
      return withheld satisfies never
  }
}

function bytesWords(bytes: number): string {
  return count(bytes, 'byte')
}
