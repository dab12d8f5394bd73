'use client'
import { useState } from 'react'
import { Field, Input } from '@/components/ui/field'
import { tell } from '@/components/ui/toast'
import { absoluteTime, count } from '@/lib/ui/format-time'
import { useMe } from '@/lib/ui/queries'
import { useChangePerson, useEndPersonsSessions, useInvite, useNewLink } from '@/lib/ui/settings-queries'
import type { InvitationLink, PersonRow } from '@/lib/view/person-wire'
import { ActDialog } from './act-dialog'
import { type RoleChoice, rolesOf } from './role-choice'
import { RolePicker } from './role-picker'
import { SecretDialog } from './secret-dialog'
import { faultAt } from './words'

/** Adds a person, and shows the link that lets them in. */
export function InvitePerson({ onClose }: { onClose: () => void }) {
  const invite = useInvite()
  const [name, setName] = useState('')
  const [choice, setChoice] = useState<RoleChoice>({ roles: ['viewer'], draft: '' })
  const [made, setMade] = useState<{ name: string; invitation: InvitationLink }>()
  if (made) return <LinkDialog {...made} onClose={onClose} />
  const asked = name.trim()
  return (
    <ActDialog
      title="Invite a person"
      description="They choose their own password with a link that works once."
      button={asked ? `Invite ${asked}` : 'Invite'}
      fields={['name', 'roles']}
      act={async () => {
        if (asked === '') throw faultAt('name', 'A person needs a name; it signs what they decide.')
        const { invitation, name: given } = await invite.mutateAsync({ name: asked, roles: rolesOf(choice) })
        if (invitation) setMade({ name: given, invitation })
      }}
      onClose={onClose}
      keepsOpen
    >
      {(faults) => (
        <div className="flex flex-col gap-4">
          <Field
            label="Name"
            help="How their decisions are signed. It cannot be changed later."
            error={faults.name}
          >
            {(ids) => (
              <Input
                {...ids}
                autoFocus
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                maxLength={64}
                value={name}
                onChange={(event) => setName(event.target.value)}
              />
            )}
          </Field>
          <RolePicker value={choice} onChange={setChoice} fault={faults.roles} />
        </div>
      )}
    </ActDialog>
  )
}

export type PersonAct = 'roles' | 'link' | 'sessions' | 'disable' | 'enable'

/** Asks about one act on one person. */
export function PersonDialog({
  person,
  act,
  onClose,
}: {
  person: PersonRow
  act: PersonAct
  onClose: () => void
}) {
  switch (act) {
    case 'roles':
      return <ChangeRoles person={person} onClose={onClose} />
    case 'link':
      return <NewLink person={person} onClose={onClose} />
    case 'sessions':
      return <EndSessions person={person} onClose={onClose} />
    case 'disable':
    case 'enable':
      return <SetDisabled person={person} disabled={act === 'disable'} onClose={onClose} />
    default:
      return act satisfies never
  }
}

interface About {
  person: PersonRow
  onClose: () => void
}

function ChangeRoles({ person, onClose }: About) {
  const me = useMe().data
  const change = useChangePerson()
  const [choice, setChoice] = useState<RoleChoice>({ roles: person.roles, draft: '' })
  const givesUp =
    me?.id === person.id && person.roles.includes('administrator') && !choice.roles.includes('administrator')
  return (
    <ActDialog
      title={`Roles of ${person.name}`}
      description="They hold from their next request on, in open sessions and for their API tokens too."
      button={`Give ${person.name} these roles`}
      fields={['roles']}
      act={async () => {
        const { roles } = await change.mutateAsync({ id: person.id, roles: rolesOf(choice) })
        tell(`${person.name} is now ${roles.join(', ') || 'without a role'}`)
      }}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <RolePicker value={choice} onChange={setChoice} fault={faults.roles} />
          {givesUp && (
            <p className="mt-4 text-failed-ink">
              You take the role administrator from yourself: people and agents close to you at once.
            </p>
          )}
        </>
      )}
    </ActDialog>
  )
}

function NewLink({ person, onClose }: About) {
  const link = useNewLink()
  const [made, setMade] = useState<InvitationLink>()
  if (made) return <LinkDialog name={person.name} invitation={made} onClose={onClose} />
  return (
    <ActDialog
      title={
        person.hasPassword
          ? `Let ${person.name} choose a new password`
          : `Make a new invitation for ${person.name}`
      }
      button={`Make a link for ${person.name}`}
      act={async () => setMade(await link.mutateAsync(person.id))}
      onClose={onClose}
      keepsOpen
    >
      {() => (
        <p>
          {person.hasPassword
            ? `Makes a one-time link. Until it is used, ${person.name} signs in as before; using it ends every session of theirs.`
            : 'Makes a one-time link. The one before, if there is any, works no more.'}
        </p>
      )}
    </ActDialog>
  )
}

function LinkDialog({
  name,
  invitation,
  onClose,
}: {
  name: string
  invitation: InvitationLink
  onClose: () => void
}) {
  return (
    <SecretDialog
      title={`A one-time link for ${name}`}
      description={`Whoever opens it chooses the password of ${name}. Send it the way you would send a key.`}
      label={`Link, good once, until ${absoluteTime(invitation.expiresAt).slice(0, 16)}`}
      secret={invitation.link}
      onClose={onClose}
    />
  )
}

function EndSessions({ person, onClose }: About) {
  const end = useEndPersonsSessions()
  const sessions = count(person.sessions, 'session')
  return (
    <ActDialog
      title={`End the sessions of ${person.name}`}
      button={`End ${sessions} of ${person.name}`}
      danger
      act={async () => {
        const { ended } = await end.mutateAsync(person.id)
        tell(`${count(ended, 'session')} of ${person.name} ended`)
      }}
      onClose={onClose}
    >
      {() => (
        <p>
          {person.name} is signed out everywhere with the next request, and may sign in again. This session of
          yours and API tokens stay.
        </p>
      )}
    </ActDialog>
  )
}

function SetDisabled({ person, disabled, onClose }: About & { disabled: boolean }) {
  const me = useMe().data
  const change = useChangePerson()
  const { name } = person
  return (
    <ActDialog
      title={disabled ? `Disable ${name}` : `Enable ${name}`}
      button={disabled ? `Disable ${name}` : `Enable ${name}`}
      danger={disabled}
      act={async () => {
        await change.mutateAsync({ id: person.id, disabled })
        tell(disabled ? `${name} is disabled` : `${name} may sign in again`)
      }}
      onClose={onClose}
    >
      {() => (
        <>
          {disabled && me?.id === person.id && (
            <p className="mb-2 text-failed-ink">This is your own account: you are signed out at once.</p>
          )}
          <p>
            {disabled
              ? `${name} is signed out at once, and their API tokens are refused. The name stays taken, since ledgers name them, and the account can be enabled again.`
              : `${name} may sign in with the password from before, and API tokens that have not run out work again. Sessions that were ended stay ended.`}
          </p>
        </>
      )}
    </ActDialog>
  )
}
