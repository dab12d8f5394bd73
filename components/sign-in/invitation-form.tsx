'use client'
import { type FormEvent, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import type { ProblemDetails } from '@/lib/view/wire'
import { FormAlert } from './form-alert'
import { PasswordInput } from './password-input'
import { signInFailure } from './sign-in-form'

interface Refused {
  weak: boolean
  sentence: string
}

/** The password of who holds the link; signs them in. */
export function InvitationForm({
  token,
  name,
  minPasswordLength,
}: {
  token: string
  name: string
  minPasswordLength: number
}) {
  const [refused, setRefused] = useState<Refused>()
  const [busy, setBusy] = useState(false)

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const password = String(new FormData(form).get('password'))
    setBusy(true)
    setRefused(undefined)
    const refusal = await accept(token, password)
    if (!refusal) {
      // Should signing in fail now, the password is set all the same: the sign-in page says what is wrong.
      await signInFailure(name, password)
      window.location.assign('/')
      return
    }
    setBusy(false)
    setRefused(refusal)
    const input = form.elements.namedItem('password')
    if (input instanceof HTMLInputElement) input.focus()
  }

  return (
    <form method="post" onSubmit={submit}>
      <FormAlert>{refused && !refused.weak ? refused.sentence : undefined}</FormAlert>
      {/* For password managers, which keep the two together. */}
      <input className="hidden" name="username" autoComplete="username" value={name} readOnly />
      <div className="flex flex-col gap-4">
        <Field
          label="Password"
          help={`At least ${minPasswordLength} characters. A few words in a row are easy to remember.`}
          error={refused?.weak ? refused.sentence : undefined}
        >
          {(ids) => <PasswordInput {...ids} name="password" required autoFocus autoComplete="new-password" />}
        </Field>
        <Button type="submit" variant="primary" busy={busy}>
          {busy ? 'Setting the password…' : `Sign in as ${name}`}
        </Button>
      </div>
      <noscript>
        <p className="mt-4 text-ink-2">This needs JavaScript; allow it for this address.</p>
      </noscript>
    </form>
  )
}

async function accept(token: string, password: string): Promise<Refused | undefined> {
  try {
    const response = await fetch('/api/auth/invitation', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password }),
    })
    if (response.ok) return undefined
    const details = (await response.json()) as ProblemDetails
    return { weak: details.code === 'password_weak', sentence: details.detail }
  } catch {
    return {
      weak: false,
      sentence: 'Holdpoint did not answer. Check that the server is running, and try again.',
    }
  }
}
