/*
 * Secrets in the headers of one request: looked up when it goes out, put into the headers, and forgotten. What the other
 * side sends back is looked through for them, because many servers repeat what they were sent; there they turn into the
 * placeholder again, so that no value of the run ever holds one.
 */
import { headerFault } from '@/lib/nodes/http-request'
import { secretsNamed, withSecrets } from '@/lib/nodes/secret-placeholder'
import { refusal } from './resolved'
import type { Effects } from './runner'
import type { HttpAnswer } from './send'

type Headers = Readonly<Record<string, string>>

export interface FilledHeaders {
  headers: Record<string, string>
  /** The answer without the secrets that went out. */
  hide(answer: HttpAnswer): HttpAnswer
}

/** Shorter ones stand in any text by chance; to take them out would ruin it and hide nothing. */
const minHiddenChars = 4

/**
 * Headers with their secrets. Throws EffectFailed `secret_unknown`, and `header_refused` for a secret that no header
 * can carry; neither says anything of a value.
 */
export async function filledHeaders(
  headers: Headers,
  effects: Pick<Effects, 'secret'>,
): Promise<FilledHeaders> {
  const secrets = new Map<string, string>()
  for (const [header, value] of Object.entries(headers)) {
    for (const name of secretsNamed(value)) {
      const secret = secrets.get(name) ?? (await effects.secret(name))
      if (secret === undefined) throw unknown(name, header)
      secrets.set(name, secret)
    }
  }
  const filled = Object.entries(headers).map(([header, value]): [string, string] => [
    header,
    carried(header, withSecrets(value, secrets)),
  ])
  return { headers: Object.fromEntries(filled), hide: (answer) => hidden(answer, spellings(secrets)) }
}

function unknown(name: string, header: string) {
  return refusal(
    'secret_unknown',
    `The header "${header}" needs the secret "${name}", which is not declared or has no value where Holdpoint runs; nothing was sent.`,
  )
}

/** Fail-closed: a line break in a secret would begin a header of its own. */
function carried(header: string, value: string): string {
  const fault = headerFault(header, value)
  if (fault) throw refusal('header_refused', `${fault} It comes from a secret; nothing was sent.`)
  return value
}

/**
 * How a secret may come back, one character a byte: as it was sent, as UTF-8, inside JSON, inside a URL. Longest first,
 * so that none is left in part.
 */
function spellings(secrets: ReadonlyMap<string, string>): [string, string][] {
  const all = [...secrets].flatMap(([name, secret]) => {
    const inUtf8 = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)].map((spelling) =>
      Buffer.from(spelling).toString('latin1'),
    )
    return [secret, ...inUtf8].map((spelling): [string, string] => [spelling, `{{secret:${name}}}`])
  })
  return all.filter(([spelling]) => spelling.length >= minHiddenChars).sort(([a], [b]) => b.length - a.length)
}

function hidden(answer: HttpAnswer, secrets: readonly [string, string][]): HttpAnswer {
  if (secrets.length === 0) return answer
  const clean = (text: string) =>
    secrets.reduce((left, [secret, name]) => left.replaceAll(secret, name), text)
  // Headers carry no character beyond ÿ, so each is one byte of the body, which may be no text at all.
  const body = Buffer.from(clean(answer.body.toString('latin1')), 'latin1')
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, clean(value)])
  return { ...answer, headers: Object.fromEntries(headers), body }
}
