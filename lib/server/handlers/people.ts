/** The people who may sign in. Administrators add them; a password is given once and travels in no answer. */
import { z } from 'zod'
import { createPerson } from '@/lib/auth/accounts'
import type { PersonRecord } from '@/lib/store/people'
import type { Page, Person } from '@/lib/view/wire'
import { route } from '../current'
import { json } from '../http/route'

function rowOf({ id, name, roles }: PersonRecord): Person {
  return { id, name, roles }
}

/** `GET /api/v1/people` */
export const listPeople = route({ auth: 'session', role: 'administrator' }, async ({ installation }) =>
  json({ items: (await installation.people.people()).map(rowOf) } satisfies Page<Person>),
)

const personBody = z.strictObject({
  name: z.string().max(200),
  password: z.string().max(1000),
  roles: z.array(z.string().max(100)).max(100),
})

/** `POST /api/v1/people` */
export const postPerson = route(
  { auth: 'session', role: 'administrator', body: personBody },
  async ({ installation, body }) => json(rowOf(await createPerson(installation.auth, body)), { status: 201 }),
)
