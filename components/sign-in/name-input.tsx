import type { ComponentProps } from 'react'
import { Input } from '@/components/ui/field'

/** The name one signs in with. */
export function NameInput(props: ComponentProps<typeof Input>) {
  return (
    <Input
      {...props}
      name="name"
      required
      autoFocus
      autoComplete="username"
      autoCapitalize="none"
      spellCheck={false}
      maxLength={64}
    />
  )
}
