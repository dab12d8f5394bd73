'use client'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { FormAlert } from '@/components/sign-in/form-alert'
import { PasswordInput } from '@/components/sign-in/password-input'
import { Button } from '@/components/ui/button'
import { Field } from '@/components/ui/field'
import { Segmented } from '@/components/ui/segmented'
import { tell } from '@/components/ui/toast'
import { sentenceOf } from '@/lib/ui/api'
import { useMe } from '@/lib/ui/queries'
import { useChangePassword } from '@/lib/ui/settings-queries'
import { chooseTheme, currentTheme, type Theme, themes } from '@/lib/ui/theme'
import type { AccountBounds } from './account-bounds'
import { ApiTokens } from './api-tokens'
import { OwnSessions } from './own-sessions'
import { fieldOf } from './words'

/** One's own account: password, theme, where one is signed in, and what programs use in one's name. */
export function Account({ bounds }: { bounds: AccountBounds }) {
  const me = useMe().data
  return (
    <>
      <Section title="Account" about="An administrator decides what you may do.">
        <p>
          <span className="font-medium">{me?.name}</span>{' '}
          <span className="text-ink-3">{me && (me.roles.join(', ') || 'no role')}</span>
        </p>
      </Section>
      <Section title="Theme" about="For this browser.">
        <ThemeChoice />
      </Section>
      <Section title="Password" about="Changing it ends your other sessions. API tokens stay.">
        <ChangePassword minLength={bounds.minPasswordLength} />
      </Section>
      <Section title="Sessions" about="Where you are signed in. A session lasts a week.">
        <OwnSessions />
      </Section>
      <Section
        title="API tokens"
        about="For programs that act in your name. Each does only what its scopes name, and never more than you may."
      >
        <ApiTokens bounds={bounds} />
      </Section>
    </>
  )
}

function Section({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="grid gap-x-8 gap-y-3 border-b px-4 py-6 last:border-b-0 lg:grid-cols-[224px_minmax(0,840px)]"
    >
      <div>
        <h2>{title}</h2>
        <p className="mt-0.5 text-ink-3 [text-wrap:pretty]">{about}</p>
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  )
}

function ThemeChoice() {
  const [theme, setTheme] = useState<Theme>('system')
  // Only the page knows it: the server writes it into <html>.
  useEffect(() => setTheme(currentTheme()), [])
  return (
    <Segmented<Theme>
      label="Theme"
      value={theme}
      choices={themes}
      onChange={(next) => {
        setTheme(next)
        chooseTheme(next)
      }}
    />
  )
}

function ChangePassword({ minLength }: { minLength: number }) {
  const change = useChangePassword()
  const me = useMe().data
  const field = fieldOf(change.error)
  const errorAt = (name: string) => (field === name ? sentenceOf(change.error) : undefined)
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    const form = event.currentTarget
    const data = new FormData(form)
    try {
      await change.mutateAsync({
        password: String(data.get('password')),
        new_password: String(data.get('new_password')),
      })
      form.reset()
      tell('Your password is changed', { detail: 'Your other sessions have ended.' })
    } catch (error) {
      const input = form.elements.namedItem(fieldOf(error) ?? 'password')
      if (input instanceof HTMLInputElement) input.focus()
    }
  }
  return (
    <form onSubmit={(event) => void submit(event)} className="max-w-[360px]">
      <FormAlert>{change.error && !field ? sentenceOf(change.error) : undefined}</FormAlert>
      {/* For password managers, which keep name and password together. */}
      <input className="hidden" name="username" autoComplete="username" value={me?.name ?? ''} readOnly />
      <div className="flex flex-col gap-4">
        <Field label="Present password" error={errorAt('password')}>
          {(ids) => <PasswordInput {...ids} name="password" required autoComplete="current-password" />}
        </Field>
        <Field
          label="New password"
          help={`At least ${minLength} characters. A few words in a row are easy to remember.`}
          error={errorAt('new_password')}
        >
          {(ids) => <PasswordInput {...ids} name="new_password" required autoComplete="new-password" />}
        </Field>
        <div>
          <Button type="submit" busy={change.isPending}>
            {change.isPending ? 'Changing your password…' : 'Change your password'}
          </Button>
        </div>
      </div>
    </form>
  )
}
