'use client'
import { type FormEvent, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import type { ProblemDetails } from '@/lib/view/wire'
import { FormAlert } from './form-alert'
import { NameInput } from './name-input'
import { PasswordInput } from './password-input'
import { signInFailure } from './sign-in-form'

interface Refused {
  field: 'name' | 'password' | 'form'
  sentence: string
}

/** The name and password of the first administrator; signs them in. */
export function FirstRunForm({ token, minPasswordLength }: { token: string; minPasswordLength: number }) {
  const [refused, setRefused] = useState<Refused>()
  const [busy, setBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    const chosen = { name: String(data.get('name')), password: String(data.get('password')) }
    setBusy(true)
    setRefused(undefined)
    const refusal = await makeAdministrator(token, chosen)
    if (!refusal) {
      // Should signing in fail now, the account is there all the same: the sign-in page says what is wrong.
      await signInFailure(chosen.name, chosen.password)
      window.location.assign('/')
      return
    }
    setBusy(false)
    setRefused(refusal)
    const input = form.elements.namedItem(refusal.field)
    if (input instanceof HTMLInputElement) input.focus()
  }

  const errorOf = (field: Refused['field']) => (refused?.field === field ? refused.sentence : undefined)
  return (
    <form method="post" onSubmit={submit}>
      <FormAlert>{errorOf('form')}</FormAlert>
      <div className="flex flex-col gap-4">
        <Field
          label="Name"
          help="How decisions of yours are signed. It cannot be changed later."
          error={errorOf('name')}
        >
          {(ids) => <NameInput {...ids} />}
        </Field>
        <Field
          label="Password"
          help={`At least ${minPasswordLength} characters. A few words in a row are easy to remember.`}
          error={errorOf('password')}
        >
          {(ids) => <PasswordInput {...ids} name="password" required autoComplete="new-password" />}
        </Field>
        <Button type="submit" variant="primary" busy={busy}>
          {busy ? 'Making the account…' : 'Become administrator'}
        </Button>
      </div>
      <noscript>
        <p className="mt-4 text-ink-2">This needs JavaScript; allow it for this address.</p>
      </noscript>
    </form>
  )
}

async function makeAdministrator(
  token: string,
  chosen: { name: string; password: string },
): Promise<Refused | undefined> {
  try {
    const response = await fetch('/api/auth/first-run', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...chosen }),
    })
    if (response.ok) return undefined
    const details = (await response.json()) as ProblemDetails
    const field = details.code === 'password_weak' ? 'password' : details.field === 'name' ? 'name' : 'form'
    return { field, sentence: details.detail }
  } catch {
    return {
      field: 'form',
      sentence: 'Holdpoint did not answer. Check that the server is running, and try again.',
    }
  }
}
