'use client'
import { signIn } from 'next-auth/react'
import { type FormEvent, useRef, useState } from 'react'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { signInWords } from '@/lib/auth/sign-in-words'
import { FormAlert } from './form-alert'
import { NameInput } from './name-input'
import { PasswordInput } from './password-input'

/** Name and password. `next` is where to go afterwards; `notice` why one is here again. */
export function SignInForm({ next, notice }: { next: string; notice?: string | undefined }) {
  const [error, setError] = useState<string>()
  const [busy, setBusy] = useState(false)
  const form = useRef<HTMLFormElement>(null)

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const data = new FormData(event.currentTarget)
    setBusy(true)
    setError(undefined)
    const failure = await signInFailure(String(data.get('name')), String(data.get('password')))
    if (failure === undefined) {
      // A full load, so that nothing of a signed-out page stays.
      window.location.assign(next)
      return
    }
    setBusy(false)
    setError(failure)
    const password = form.current?.elements.namedItem('password')
    if (password instanceof HTMLInputElement) {
      password.select()
      password.focus()
    }
  }

  return (
    <form ref={form} method="post" onSubmit={submit}>
      {notice && !error && <p className="mb-4 text-ink-2">{notice}</p>}
      <FormAlert>{error}</FormAlert>
      <div className="flex flex-col gap-4">
        <Field label="Name">{(ids) => <NameInput {...ids} />}</Field>
        <Field label="Password">
          {(ids) => <PasswordInput {...ids} name="password" required autoComplete="current-password" />}
        </Field>
        <Button type="submit" variant="primary" busy={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </Button>
      </div>
      <noscript>
        <p className="mt-4 text-ink-2">Signing in needs JavaScript; allow it for this address.</p>
      </noscript>
    </form>
  )
}

/** Signs in; the sentence to show when that fails. */
export async function signInFailure(name: string, password: string): Promise<string | undefined> {
  try {
    const result = await signIn('credentials', { name, password, redirect: false })
    return result?.ok ? undefined : signInWords(result?.error ?? '')
  } catch {
    return 'Holdpoint did not answer. Check that the server is running, and try again.'
  }
}
