import type { Refused } from './answer'
import { type ToolCall, targetOfCall } from './tool-call'

/** A denied call, in the words operators look for: `fs.read denied on /etc/shadow: no rule of policy.fs.read names it`. */
export function denial(call: ToolCall, rule: string, reason: string): Refused {
  return {
    allowed: false,
    rule,
    code: 'policy_denied',
    sentence: `${call.tool} denied on ${spokenTarget(call)}: ${reason}`,
  }
}

/** What a call acts on as it may be spoken: of a URL no query and no credentials, which may be secrets. */
export function spokenTarget(call: ToolCall): string {
  if (call.tool !== 'http.request') return oneLine(targetOfCall(call))
  const method = oneLine(call.method.toUpperCase())
  if (!URL.canParse(call.url)) return `${method} a URL that is not one`
  const { protocol, host, pathname } = new URL(call.url)
  return oneLine(`${method} ${protocol}//${host}${pathname}`)
}

function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
  return line.length > 200 ? `${line.slice(0, 199)}…` : line
}
