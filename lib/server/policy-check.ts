/*
 * "Would this be allowed?" One call, typed by a person, goes the way a step's call goes, up to the effect: where a path
 * really leads, which folders and targets the workflow was given, what its allowlist says, and then Rego. Nothing is read,
 * sent or run. A path that the allowlist does not name as it is written is not looked up on the disk.
 */
import { access } from 'node:fs/promises'
import { allowlistAnswer } from '@/lib/policy/allowlist'
import type { Answer } from '@/lib/policy/answer'
import { spokenTarget } from '@/lib/policy/denial'
import { type Granted, grantedTo, type HouseBounds } from '@/lib/policy/grants'
import { absolutePath, rootFolders, rootFor } from '@/lib/policy/roots'
import { answerByName, deniedTarget, isRefused, targetOf } from '@/lib/policy/targets'
import type { ToolCall } from '@/lib/policy/tool-call'
import { unlistedAnswer } from '@/lib/policy/unlisted'
import { locate, locateAllowed, realPath } from '@/lib/runners/place'
import type { Policies } from '@/lib/runners/policy-gate'
import { EffectFailed } from '@/lib/runners/runner'
import type { PolicyCheck } from '@/lib/view/workflow-wire'
import type { Policy, WorkflowGraph } from '@/lib/workflow/graph'

type FileCall = Extract<ToolCall, { path: string }>
type Said = PolicyCheck['answers'][number]

export interface CheckBounds extends HouseBounds {
  policies: Policies
}

/** What each rule of the workflow says of the call, in the order in which a step would meet them. */
export async function checkCall(
  graph: Pick<WorkflowGraph, 'format' | 'policy'>,
  call: ToolCall,
  bounds: CheckBounds,
): Promise<PolicyCheck> {
  const granted = grantedTo(graph, bounds)
  const { policy } = granted
  const { real, given } = await whereItLeads(call, granted)
  const answers = given ? [given] : []
  const unlisted = unlistedAnswer(policy, call, bounds.unconfined)
  if (unlisted) answers.push(said('allowlist', unlisted))
  if (answers.every(({ allowed }) => allowed)) {
    const { allowlist, rego } = await bounds.policies.answers(policy, real)
    if (allowlist) answers.push(said('allowlist', allowlist))
    if (rego) answers.push(said('rego', rego))
  }
  if (real.tool === 'http.request' && answers.every(({ allowed }) => allowed)) {
    answers.push(targetSays(real, policy))
  }
  const denied = answers.find(({ allowed }) => !allowed)
  const target = spokenTarget(call)
  const rules = answers.map(({ rule }) => rule).join(' and ') || 'no rule: the workflow states no policy'
  return {
    allowed: denied === undefined,
    tool: call.tool,
    target,
    sentence: denied?.sentence ?? `${call.tool} on ${target} is allowed by ${rules}`,
    answers,
  }
}

/** The call as a step would make it, and what the folders that the workflow was given say of it. */
async function whereItLeads(call: ToolCall, granted: Granted): Promise<{ real: ToolCall; given?: Said }> {
  switch (call.tool) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
    case 'fs.list':
      return filePlace(call, granted)
    case 'shell.run':
      return { real: { ...call, command: await realCommand(call, granted.policy) } }
    case 'http.request':
    case 'env.read':
    case 'mcp.tool':
    case 'mcp.resource':
      return { real: call }
    default:
      return call satisfies never
  }
}

async function filePlace(call: FileCall, granted: Granted) {
  const { policy, installationRoots } = granted
  const written = absolutePath(call.path, installationRoots[0] ?? '/')
  const asWritten = { ...call, path: written }
  // The list's own answer says it better, and comes without a look at the disk.
  if (policy.allow && !allowlistAnswer(policy.allow, asWritten).allowed) return { real: asWritten }
  try {
    if (policy.allow) {
      const { path } = await locateAllowed(call.path, call.tool, granted, policy.allow)
      return { real: { ...call, path } }
    }
    const use = call.tool === 'fs.read' || call.tool === 'fs.list' ? 'read' : 'write'
    const { path } = await locate(call.path, use, granted)
    const { folders } = rootFolders(policy.roots, installationRoots)
    return { real: { ...call, path }, given: said('folders', rootFor(written, use, folders, call.path)) }
  } catch (error) {
    return { real: asWritten, given: refused('folders', error) }
  }
}

function targetSays(call: Extract<ToolCall, { tool: 'http.request' }>, policy: Policy): Said {
  const target = targetOf(call.url)
  if (isRefused(target)) return said('targets', target)
  const known = answerByName(target, policy.privateTargets)
  return known
    ? said('targets', isRefused(known) ? deniedTarget(target, known) : known)
    : {
        by: 'targets',
        allowed: true,
        rule: 'public addresses, which its name must lead to when it is called',
      }
}

/** Where the command really is; as written when nothing stands there, or when the list names nothing like it. */
async function realCommand({ command }: Extract<ToolCall, { tool: 'shell.run' }>, policy: Policy) {
  if (!command.startsWith('/') || policy.allow?.shell.commands.length === 0) return command
  const stands = await access(command).then(
    () => true,
    () => false,
  )
  return stands ? realPath(command, '/').catch(() => command) : command
}

function said(by: Said['by'], answer: Answer): Said {
  const { allowed, rule } = answer
  return answer.allowed ? { by, allowed, rule } : { by, allowed, rule, sentence: answer.sentence }
}

function refused(by: Said['by'], error: unknown): Said {
  if (!(error instanceof EffectFailed)) throw error
  const rule =
    error.code === 'policy_denied' ? 'the allowlist, where it really leads' : 'folders it was given'
  return { by, allowed: false, rule, sentence: error.message }
}
