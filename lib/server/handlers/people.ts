/**
 * The people who may sign in. Administrators add them, choose what they may do and shut them out; a password or a
 * one-time link is given once and travels in no other answer.
 */
import { z } from 'zod'
import { changePerson, createPerson, endSessions } from '@/lib/auth/accounts'
import { invite, useInvitation } from '@/lib/auth/invitations'
import { Problem } from '@/lib/base/problem'
import type { InvitationLink, NewPerson, PersonRow } from '@/lib/view/person-wire'
import type { Page } from '@/lib/view/wire'
import { route } from '../current'
import { json } from '../http/route'
import type { Installation } from '../installation'

const administrators = { auth: 'session', role: 'administrator' } as const
const roles = z.array(z.string().max(100)).max(100)
/** A token and a password. */
const maxInvitationBytes = 16_384

function roster({ people, auth }: Installation): Promise<PersonRow[]> {
  return people.roster(auth.clock.now())
}

async function rowOf(installation: Installation, id: string): Promise<PersonRow> {
  const row = (await roster(installation)).find((person) => person.id === id)
  if (row) return row
  throw new Problem('not_found', `There is no person with the id ${JSON.stringify(id.slice(0, 60))}.`)
}

/** `GET /api/v1/people` */
export const listPeople = route(administrators, async ({ installation }) =>
  json({ items: await roster(installation) } satisfies Page<PersonRow>),
)

const personBody = z.strictObject({
  name: z.string().max(200),
  password: z.string().max(2_000).optional(),
  roles,
})

/** `POST /api/v1/people`: without a password, the answer has a one-time link to choose one. */
export const postPerson = route(
  { ...administrators, body: personBody },
  async ({ installation, principal, body }) => {
    const { id, name } = await createPerson(installation.auth, body)
    installation.log.info({ person: name, by: principal.name, roles: body.roles }, `Added the person ${name}`)
    const invitation = body.password === undefined ? await invite(installation.auth, id) : undefined
    const row = await rowOf(installation, id)
    return json({ ...row, ...(invitation && { invitation }) } satisfies NewPerson, { status: 201 })
  },
)

const changeBody = z
  .strictObject({ roles: roles.optional(), disabled: z.boolean().optional() })
  .refine(({ roles, disabled }) => roles !== undefined || disabled !== undefined, {
    message: 'nothing is to be changed; give roles, disabled or both',
  })

/** `PATCH /api/v1/people/{person}` */
export const patchPerson = route(
  { ...administrators, body: changeBody },
  async ({ installation, principal, params, body }) => {
    const id = params.person ?? ''
    await changePerson(installation.auth, id, body)
    const row = await rowOf(installation, id)
    installation.log.info({ person: row.name, by: principal.name, ...body }, `Changed the person ${row.name}`)
    return json(row)
  },
)

/** `POST /api/v1/people/{person}/sessions/end`: all of them, but for the one that asks. */
export const endPersonsSessions = route(administrators, async ({ installation, principal, params }) => {
  const { name, id } = await rowOf(installation, params.person ?? '')
  const ended = await endSessions(installation.auth, id, principal.session)
  installation.log.info({ person: name, by: principal.name, ended }, `Ended the sessions of ${name}`)
  return json({ ended })
})

/** `POST /api/v1/people/{person}/invitation`: a new one-time link; the one before works no more. */
export const postInvitation = route(administrators, async ({ installation, principal, params }) => {
  const { name, id } = await rowOf(installation, params.person ?? '')
  const invitation = await invite(installation.auth, id)
  installation.log.info({ person: name, by: principal.name }, `Made a one-time link for ${name}`)
  return json(invitation satisfies InvitationLink, { status: 201 })
})

const chosenBody = z.strictObject({ token: z.string().max(100), password: z.string().max(2_000) })

/** `POST /api/auth/invitation`: whoever holds the link chooses the password. */
export const acceptInvitation = route(
  { auth: 'none', body: chosenBody, maxBodyBytes: maxInvitationBytes },
  async ({ installation, body }) => json(await useInvitation(installation.auth, body.token, body)),
)
