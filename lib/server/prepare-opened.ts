/*
 * The data folder of a console that shows a bundle (opened.ts): its runs in a store, its public keys among the former
 * ones of an installation that signs nothing, one visitor with one session, and the note that says all this.
 */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { type Hash, sha256 } from '@/lib/base/hash'
import { mintUuid } from '@/lib/base/ids'
import { addGeneration } from '@/lib/ect/generations'
import { jwksOf, type VerificationKeys } from '@/lib/ect/keys'
import { openKeyRing } from '@/lib/ect/keys-file'
import { type AgentStore, openAgents } from '@/lib/store/agents'
import { openStore } from '@/lib/store/open'
import { openPeople } from '@/lib/store/people'
import type { BundleContents } from './bundle/contents'
import { importBundle } from './bundle/import-bundle'
import type { BundleVerdict } from './bundle/verdict'
import { type Opened, writeOpened } from './opened'

/** As long as a session lasts anywhere. */
const sessionMs = 7 * 86_400_000

export interface OpenedWish {
  /** The bundle's name, without its folders. */
  file: string
  verdict: BundleVerdict
  contents: BundleContents
  /** Hash of the link's token. */
  link: Hash
}

/** Puts everything into an empty folder; gives the note's place. Throws Problem `bundle_invalid` for what no console can show. */
export async function prepareOpened(
  folder: string,
  { file, verdict, contents, link }: OpenedWish,
): Promise<string> {
  const store = await openStore(folder)
  try {
    const imported = await importBundle(contents, store)
    const visitor = {
      id: mintUuid(),
      name: 'visitor',
      passwordHash: '',
      roles: ['viewer'],
      createdAt: Date.now(),
    }
    const people = openPeople(store)
    await people.addPerson(visitor)
    const session = randomBytes(32).toString('base64url')
    const times = { createdAt: Date.now(), expiresAt: Date.now() + sessionMs }
    await people.addSession({
      hash: sha256(session),
      personId: visitor.id,
      ...times,
      address: '127.0.0.1',
      agent: 'link',
    })
    bringKeys(path.join(folder, 'keys'), contents.keys)
    await bringAgents(openAgents(store), contents.agents)
    const { runs, tokens, at, unread } = imported
    const more = unread > 0 ? ` ${unread} tokens could not be read and are not shown.` : ''
    const opened: Opened = {
      ...{ file: file.slice(0, 200), run: contents.run, runs, tokens, at, link, session },
      holds: verdict.holds,
      keysGiven: verdict.holds && verdict.keysGiven,
      ...(!verdict.holds && { fault: `${verdict.failure.sentence}${more}` }),
    }
    const note = path.join(folder, 'opened.json')
    writeOpened(note, opened)
    return note
  } finally {
    await store.close()
  }
}

/** The agents that signed something in it, as former ones: known by their keys alone. */
async function bringAgents(agents: AgentStore, known: ReadonlyMap<string, VerificationKeys>): Promise<void> {
  for (const [id, keys] of known) {
    const name = id.split('/').at(-1) ?? id
    const jwks = JSON.stringify(jwksOf(keys))
    await agents.put({ id, name, baseUrl: '', jwks, addedAt: 0, addedBy: 'bundle' })
    await agents.remove(id, Date.now())
  }
}

/** The bundle's public keys, as former ones of the temporary installation: its pages verify with them. */
function bringKeys(folder: string, keys: VerificationKeys): void {
  const ring = openKeyRing(folder, Date.now())
  let number = 2
  for (const { kid, alg, jwk } of keys.values()) {
    addGeneration(folder, 'signing', number, { kid, alg, madeAt: 0, public: jwk })
    number += 1
  }
  // The newest must be able to sign; nothing asks it to.
  ring.rotate(Date.now())
}
