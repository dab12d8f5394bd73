/*
 * A console that shows a bundle: `holdpoint open`. The command verified the file, put its runs into a store of their own
 * in a temporary folder, and left a note there; a server that finds the note named in its environment works for nobody:
 *
 *   no worker, no lab, no housekeeping     nothing goes on, and nothing is purged
 *   the store is opened for reading        whatever a handler tries, nothing is written
 *   every write is refused at the edge     `opened_read_only`, one sentence, whoever asks
 *   one visitor, a viewer                  signed in by the link that the command printed, from this machine alone
 *   no clock runs on its pages             they stand at the bundle's moment, and no stream is opened (lib/ui/opened.ts)
 */
import fs from 'node:fs'
import { z } from 'zod'
import type { Hash } from '@/lib/base/hash'
import { Problem } from '@/lib/base/problem'
import type { OpenedBundle } from '@/lib/view/bundle-wire'
import { readOnlyWords } from '@/lib/view/opened-words'

const note = z.strictObject({
  /** The bundle's name, without its folders. */
  file: z.string(),
  run: z.string(),
  runs: z.number(),
  tokens: z.number(),
  /** The state it shows, ms since the epoch: every clock of its pages stands there. */
  at: z.number(),
  /** False when it was opened although it does not verify; `fault` says why. */
  holds: z.boolean(),
  fault: z.string().optional(),
  /** Whether it was checked against keys that its reader trusts, or its own alone. */
  keysGiven: z.boolean(),
  /** SHA-256 of the link's token. */
  link: z.string(),
  /** The visitor's session, made when the store was. */
  session: z.string(),
})

export type Opened = z.infer<typeof note> & { link: Hash }

/** The note in a file of mode 0600. */
export function writeOpened(file: string, opened: Opened): void {
  fs.writeFileSync(file, JSON.stringify(opened), { mode: 0o600 })
}

export function readOpened(file: string): Opened {
  return note.parse(JSON.parse(fs.readFileSync(file, 'utf8')))
}

/** The refusal of every write. */
export function openedReadOnly({ file }: Pick<Opened, 'file'>): Problem {
  return new Problem('opened_read_only', readOnlyWords(file))
}

/** What may be said of it. */
export function toldOf({ link: _link, session: _session, ...told }: Opened): OpenedBundle {
  return told
}
