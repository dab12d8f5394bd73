/*
 * One question for all who ask whether a call may be made: the gate before an effect, and a person who wants to know
 * beforehand. The allowlist answers first; Rego is asked only about what the allowlist let through, and both must say
 * yes. Nothing can be allowed by Rego that the list denies.
 */
import type { Policy } from '@/lib/workflow/graph'
import { allowlistAnswer } from './allowlist'
import type { Answer } from './answer'
import { type AskRego, regoAnswer, regoInput, regoUnanswered } from './rego-question'
import type { ToolCall } from './tool-call'

/** Who said what. Absent: the workflow states no such rule, or it was not asked because the one before denied. */
export interface PolicyAnswers {
  allowlist?: Answer
  rego?: Answer
}

/** Asks a workflow's policy about one call. Never throws: a Rego policy that cannot be evaluated denies. */
export async function policyAnswers(
  policy: Pick<Policy, 'allow' | 'rego'>,
  call: ToolCall,
  askRego: AskRego,
): Promise<PolicyAnswers> {
  const allowlist = policy.allow && allowlistAnswer(policy.allow, call)
  if (!policy.rego || allowlist?.allowed === false) return allowlist ? { allowlist } : {}
  const rego = await regoSays(policy.rego.query, call, askRego)
  return allowlist ? { allowlist, rego } : { rego }
}

/** The answer that counts: the refusal if there is one, else the last rule that allowed. */
export function decisive({ allowlist, rego }: PolicyAnswers): Answer {
  if (allowlist?.allowed === false) return allowlist
  return rego ?? allowlist ?? { allowed: true, rule: 'no policy is stated' }
}

async function regoSays(query: string, call: ToolCall, askRego: AskRego): Promise<Answer> {
  try {
    return regoAnswer(call, query, await askRego(regoInput(call)))
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 300) : 'it could not be evaluated'
    return regoUnanswered(call, query, reason)
  }
}
