import { Problem } from '@/lib/base/problem'

/** `+` stays out: ledger tokens write `person:ada+token:ci`. */
const shape = /^[a-z0-9][a-z0-9._@-]{0,63}$/

/** An account name in its one spelling. Throws Problem `bad_request`. */
export function accountName(text: string): string {
  const name = normalName(text)
  if (shape.test(name)) return name
  throw new Problem(
    'bad_request',
    'The name must be 1 to 64 letters a to z, digits, or . _ @ -, and begin with a letter or digit.',
    { field: 'name' },
  )
}

/** The spelling under which an account is looked for. */
export function normalName(text: string): string {
  return text.trim().normalize('NFKC').toLowerCase()
}
