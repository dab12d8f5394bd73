import { clip } from '@/lib/base/clip'

/** A part of an address that names something which is not here. */
export interface NotHereAsked {
  /** What it names: "agent", "step". */
  what: string
  asked: string
  /** "in this workflow"; "here" without it. */
  where?: string
  /** What is shown instead, a sentence without its full stop. */
  instead: string
}

/** Of what an address names so much is repeated, in bytes. */
const askedBytes = 64

/** "There is no agent “nope” here; edge-router-07 is shown." */
export function notHereSentence({ what, asked, where = 'here', instead }: NotHereAsked): string {
  return `There is no ${what} “${clip(asked, askedBytes)}” ${where}; ${instead}.`
}

/** One quiet line above what is shown, where the address names something that is not here; nothing where it does not. */
export function NotHere({ of }: { of: NotHereAsked | undefined }) {
  return (
    <div role="status" className="shrink-0 empty:hidden">
      {of && (
        <p className="border-b bg-canvas px-4 py-1.5 text-ink-2 [overflow-wrap:anywhere]">
          {notHereSentence(of)}
        </p>
      )}
    </div>
  )
}
