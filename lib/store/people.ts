/*
 * People, their sessions, API tokens, attempts to sign in, and one-time links. Control data: written through Prisma,
 * a transaction where more than one row must agree, always behind the file's write gate, the write first so that
 * SQLite's lock is taken before anything is read.
 *
 * What this room promises: an installation that has an administrator who can sign in keeps one; a one-time link works
 * once; an account's name is never given to another. Secrets arrive hashed; nothing here could be used to sign in.
 */
import { Problem } from '@/lib/base/problem'
import { type Control, controlOf, isUniqueViolation } from './control'
import {
  activeAdministrators,
  endSessions,
  insertPerson,
  mustExist,
  mustKeepAdministrator,
  noPerson,
  replaceRoles,
  setDisabled,
  type Transaction,
} from './person-changes'
import {
  type ApiTokenRecord,
  type AttemptRecord,
  type LinkState,
  type NewPerson,
  type PersonChange,
  type PersonRecord,
  personOf,
  type RosterRecord,
  type SessionRecord,
  sessionOf,
  tokenOf,
  withRoles,
} from './person-records'
import type { Store } from './store'

/** More people than one installation has; a list of them is read whole. */
const maxPeople = 10_000

/** The people of a store made by `openStore`. */
export function openPeople(store: Store): PeopleStore {
  return new PeopleStore(controlOf(store))
}

export class PeopleStore {
  readonly #control: Control

  /** Use `openPeople`. */
  constructor(control: Control) {
    this.#control = control
  }

  // people

  async person(id: string): Promise<PersonRecord | undefined> {
    const row = await this.#control.read((prisma) =>
      prisma.person.findUnique({ where: { id }, include: withRoles }),
    )
    return row ? personOf(row) : undefined
  }

  /** A person and what their password is checked against; no hash while they have not chosen one. */
  async credentials(
    name: string,
  ): Promise<{ person: PersonRecord; passwordHash: string | undefined } | undefined> {
    const row = await this.#control.read((prisma) =>
      prisma.person.findUnique({ where: { name }, include: withRoles }),
    )
    return row ? { person: personOf(row), passwordHash: row.passwordHash || undefined } : undefined
  }

  /** Everyone, by name; the disabled too. */
  async people(): Promise<PersonRecord[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.person.findMany({
        orderBy: { name: 'asc' },
        include: withRoles,
        take: maxPeople,
      }),
    )
    return rows.map(personOf)
  }

  /** Everyone, by name, with what administrators want to know of them. */
  async roster(now: number): Promise<RosterRecord[]> {
    return this.#control.read(async (prisma) => {
      const rows = await prisma.person.findMany({
        orderBy: { name: 'asc' },
        include: withRoles,
        take: maxPeople,
      })
      const open = await prisma.session.groupBy({
        by: ['personId'],
        where: { endedAt: null, expiresAt: { gt: now } },
        _count: true,
      })
      const newest = await prisma.session.groupBy({ by: ['personId'], _max: { createdAt: true } })
      const invitations = await prisma.invitation.findMany({ where: { usedAt: null }, take: maxPeople })
      const sessions = new Map(open.map((row) => [row.personId, row._count]))
      const signedIn = new Map(newest.map((row) => [row.personId, Number(row._max.createdAt)]))
      const invited = new Map(invitations.map((row) => [row.personId, Number(row.expiresAt)]))
      return rows.map((row) => {
        const signedInAt = signedIn.get(row.id)
        const invitedUntil = invited.get(row.id)
        return {
          ...personOf(row),
          hasPassword: row.passwordHash !== '',
          sessions: sessions.get(row.id) ?? 0,
          ...(signedInAt !== undefined && { signedInAt }),
          ...(invitedUntil !== undefined && { invitedUntil }),
        }
      })
    })
  }

  /** True when someone could administer. */
  async hasAdministrator(): Promise<boolean> {
    return (await this.#control.read(activeAdministrators)) > 0
  }

  /** Throws Problem `name_taken`. */
  async addPerson(person: NewPerson): Promise<void> {
    await this.#write((tx) => insertPerson(tx, person))
  }

  /**
   * Gives a person other roles, shuts them out, or both at once. Disabling ends every session and the invitation;
   * enabling brings none back. Throws Problem `not_found`, `last_administrator`.
   */
  async changePerson(id: string, { roles, disabled }: PersonChange, now: number): Promise<void> {
    await this.#write(async (tx) => {
      if (roles) await replaceRoles(tx, id, roles)
      if (disabled !== undefined) await setDisabled(tx, id, disabled, now)
      await mustExist(tx, id)
      if (roles || disabled) await mustKeepAdministrator(tx)
    })
  }

  /** Ends every other session of the person in the same transaction. Throws Problem `not_found`. */
  async setPassword(id: string, passwordHash: string, now: number, keepSession?: string): Promise<void> {
    await this.#write(async (tx) => {
      const { count } = await tx.person.updateMany({ where: { id }, data: { passwordHash } })
      if (count === 0) throw noPerson(id)
      await endSessions(tx, id, now, keepSession)
    })
  }

  // sessions

  async addSession(session: Omit<SessionRecord, 'endedAt'>): Promise<void> {
    await this.#write((tx) => tx.session.create({ data: session }))
  }

  /** A session and whose it is; ended ones too. */
  async session(hash: string): Promise<{ session: SessionRecord; person: PersonRecord } | undefined> {
    const row = await this.#control.read((prisma) =>
      prisma.session.findUnique({
        where: { hash },
        include: { person: { include: withRoles } },
      }),
    )
    return row ? { session: sessionOf(row), person: personOf(row.person) } : undefined
  }

  /** Sessions of a person that are still good, newest first. */
  async sessionsOf(personId: string, now: number): Promise<SessionRecord[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.session.findMany({
        where: { personId, endedAt: null, expiresAt: { gt: now } },
        orderBy: { createdAt: 'desc' },
        take: 1_000,
      }),
    )
    return rows.map(sessionOf)
  }

  /** Ends one session of a person. Throws Problem `not_found` when it is not theirs. Ending it again changes nothing. */
  async endSessionOf(hash: string, personId: string, now: number): Promise<void> {
    await this.#write(async (tx) => {
      const { count } = await tx.session.updateMany({
        where: { hash, personId, endedAt: null },
        data: { endedAt: now },
      })
      if (count > 0 || (await tx.session.findFirst({ where: { hash, personId } }))) return
      throw new Problem('not_found', 'There is no such session of yours; list them to see what there is.')
    })
  }

  /** Ends one session, whosever it is; ending it again changes nothing. */
  async endSession(hash: string, now: number): Promise<void> {
    await this.#write((tx) =>
      tx.session.updateMany({ where: { hash, endedAt: null }, data: { endedAt: now } }),
    )
  }

  /** Ends every session of a person but one; returns how many. */
  async endSessionsOf(personId: string, now: number, keepSession?: string): Promise<number> {
    return this.#write((tx) => endSessions(tx, personId, now, keepSession))
  }

  // API tokens

  async addToken(token: Omit<ApiTokenRecord, 'lastUsedAt' | 'revokedAt'> & { hash: string }): Promise<void> {
    await this.#write((tx) => tx.apiToken.create({ data: { ...token, scopes: token.scopes.join(' ') } }))
  }

  /** A token and whom it acts for; revoked and expired ones too. */
  async token(hash: string): Promise<{ token: ApiTokenRecord; person: PersonRecord } | undefined> {
    const row = await this.#control.read((prisma) =>
      prisma.apiToken.findUnique({
        where: { hash },
        include: { person: { include: withRoles } },
      }),
    )
    return row ? { token: tokenOf(row), person: personOf(row.person) } : undefined
  }

  /** All tokens of a person, newest first; revoked and expired ones too. */
  async tokensOf(personId: string): Promise<ApiTokenRecord[]> {
    const rows = await this.#control.read((prisma) =>
      prisma.apiToken.findMany({
        where: { personId },
        orderBy: { createdAt: 'desc' },
        take: 1_000,
      }),
    )
    return rows.map(tokenOf)
  }

  /** Notes that a token was used, unless that was noted after `unlessSince`: not every request is worth a write. */
  async noteTokenUse(id: string, now: number, unlessSince: number): Promise<void> {
    await this.#write((tx) =>
      tx.apiToken.updateMany({
        where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: unlessSince } }] },
        data: { lastUsedAt: now },
      }),
    )
  }

  /** Throws Problem `not_found` when it is not this person's. Revoking again changes nothing. */
  async revokeToken(id: string, personId: string, now: number): Promise<void> {
    await this.#write(async (tx) => {
      const { count } = await tx.apiToken.updateMany({
        where: { id, personId, revokedAt: null },
        data: { revokedAt: now },
      })
      if (count > 0 || (await tx.apiToken.findFirst({ where: { id, personId } }))) return
      throw new Problem('not_found', 'There is no such API token; list them to see what there is.')
    })
  }

  // invitations

  /** Puts a new link in the place of one that was not used. Throws Problem `not_found`. */
  async putInvitation(hash: string, personId: string, expiresAt: number): Promise<void> {
    await this.#write(async (tx) => {
      await tx.invitation.deleteMany({ where: { personId, usedAt: null } })
      await mustExist(tx, personId)
      await tx.invitation.create({ data: { hash, personId, expiresAt } })
    })
  }

  /** What an invitation is good for, and whose it is. */
  async invitation(hash: string, now: number): Promise<{ state: LinkState; person?: PersonRecord }> {
    const row = await this.#control.read((prisma) =>
      prisma.invitation.findUnique({ where: { hash }, include: { person: { include: withRoles } } }),
    )
    if (!row || row.person.disabledAt !== null) return { state: 'unknown' }
    const person = personOf(row.person)
    if (row.usedAt !== null) return { state: 'used', person }
    return { state: Number(row.expiresAt) > now ? 'open' : 'expired', person }
  }

  /**
   * Uses an invitation up: the person has this password, and their sessions end, in one transaction. False when it is
   * not open any more; nothing has changed then.
   */
  async useInvitation(hash: string, passwordHash: string, now: number): Promise<boolean> {
    return this.#write(async (tx) => {
      const where = { hash, usedAt: null, expiresAt: { gt: now }, person: { disabledAt: null } }
      const { count } = await tx.invitation.updateMany({ where, data: { usedAt: now } })
      const row = count === 0 ? null : await tx.invitation.findUnique({ where: { hash } })
      if (!row) return false
      await tx.person.update({ where: { id: row.personId }, data: { passwordHash } })
      await endSessions(tx, row.personId, now)
      return true
    })
  }

  // the first administrator's link

  /** Puts a new link in the place of those that were not used. */
  async putLink(hash: string, expiresAt: number): Promise<void> {
    await this.#write(async (tx) => {
      await tx.firstRunLink.deleteMany({ where: { usedAt: null } })
      await tx.firstRunLink.create({ data: { hash, expiresAt } })
    })
  }

  async link(hash: string, now: number): Promise<LinkState> {
    const row = await this.#control.read((prisma) => prisma.firstRunLink.findUnique({ where: { hash } }))
    if (!row) return 'unknown'
    if (row.usedAt !== null || (await this.hasAdministrator())) return 'used'
    return Number(row.expiresAt) > now ? 'open' : 'expired'
  }

  /**
   * Uses the link up and makes the person, in one transaction. False when the link is not open any more; nothing has
   * changed then. Throws Problem `name_taken`, and the link stays open.
   */
  async useLink(hash: string, person: NewPerson): Promise<boolean> {
    const now = person.createdAt
    return this.#write(async (tx) => {
      const where = { hash, usedAt: null, expiresAt: { gt: now } }
      const { count } = await tx.firstRunLink.updateMany({ where, data: { usedAt: now } })
      if (count === 0 || (await activeAdministrators(tx)) > 0) return false
      await insertPerson(tx, person)
      return true
    })
  }

  // attempts to sign in

  async attempts(subject: string): Promise<AttemptRecord | undefined> {
    const row = await this.#control.read((prisma) => prisma.signInAttempt.findUnique({ where: { subject } }))
    if (!row) return undefined
    return {
      failures: row.failures,
      blockedUntil: Number(row.blockedUntil),
      updatedAt: Number(row.updatedAt),
    }
  }

  /** Replaces what `seen` was by `next`; false, and nothing done, when somebody else was quicker. */
  async replaceAttempts(
    subject: string,
    seen: AttemptRecord | undefined,
    next: AttemptRecord,
  ): Promise<boolean> {
    if (!seen) return this.#firstAttempt(subject, next)
    const { count } = await this.#write((tx) =>
      tx.signInAttempt.updateMany({ where: { subject, ...seen }, data: next }),
    )
    return count === 1
  }

  async #firstAttempt(subject: string, next: AttemptRecord): Promise<boolean> {
    try {
      await this.#write((tx) => tx.signInAttempt.create({ data: { subject, ...next } }))
      return true
    } catch (error) {
      if (isUniqueViolation(error)) return false
      throw error
    }
  }

  async clearAttempts(subject: string): Promise<void> {
    await this.#write((tx) => tx.signInAttempt.deleteMany({ where: { subject } }))
  }

  /** Drops sessions, attempts and links that are long over; returns how many rows went. */
  async forgetBefore(before: number): Promise<number> {
    return this.#write(async (tx) => {
      const sessions = await tx.session.deleteMany({ where: { expiresAt: { lt: before } } })
      const attempts = await tx.signInAttempt.deleteMany({
        where: { updatedAt: { lt: before }, blockedUntil: { lt: before } },
      })
      const links = await tx.firstRunLink.deleteMany({ where: { usedAt: null, expiresAt: { lt: before } } })
      const invitations = await tx.invitation.deleteMany({ where: { expiresAt: { lt: before } } })
      return sessions.count + attempts.count + links.count + invitations.count
    })
  }

  /** One transaction, alone on the file within this process; run again when another process was in the way. */
  #write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#control.write((prisma) => prisma.$transaction(work))
  }
}
