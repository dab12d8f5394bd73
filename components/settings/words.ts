import { ApiProblem } from '@/lib/ui/api'

/** What the roles of our own let a person do, as the end of a sentence that begins with the role. */
export const roleWords: Readonly<Record<string, string>> = {
  viewer: 'sees workflows, runs and questions',
  author: 'imports workflows and starts runs',
  operator: 'runs, pauses and cancels workflows, decides, rolls back',
  coordinator: 'does what an operator does, and rolls back whole runs',
  administrator: 'may do everything, and decides who else may',
}

/** The same for a role of the house: one with a colon includes what stands before it (lib/hitl/roles.ts). */
export function wordsOfOwnRole(role: string): string {
  const [base = '', addition] = role.split(':', 2)
  if (addition === undefined) return 'answers wherever a workflow asks for it, and sees what a viewer sees'
  const answers = `answers wherever ${role} or ${base} is asked for`
  if (!(base in roleWords)) return `${answers}, and sees what a viewer sees`
  return `includes all that ${/^[ao]/.test(base) ? 'an' : 'a'} ${base} may do, and ${answers}`
}

/** What a scope of an API token allows. One that is new here goes by its name. */
export const scopeWords: Readonly<Record<string, string>> = {
  'runs:read': 'see workflows, runs and questions',
  'runs:write': 'start, pause, resume and cancel runs',
  'approvals:decide': 'approve, refuse, and comment',
  'rollbacks:execute': 'roll steps back',
  'workflows:write': 'import workflows',
  'tasks:work': 'claim tasks and report on them',
  'tokens:report': 'hand on tokens that agents signed',
  'export:read': 'download signed bundles',
}

/** Why the text is no role, and how to write one. */
export function notARole(text: string): string {
  if (/^administrator:/.test(text)) {
    return 'An administrator takes no addition, since the role includes everything; choose administrator itself.'
  }
  return `“${text.slice(0, 60)}” is no role. Write small letters and digits, with one colon at most: operator:oncall.`
}

/** A fault that a form finds itself, in the shape of those that the server finds. */
export function faultAt(field: string, sentence: string): ApiProblem {
  return new ApiProblem('bad_request', sentence, 400, { field })
}

/** The fields of a form that a refusal may belong to: by its own word, or by its code. */
const fieldOfCode: Readonly<Record<string, string>> = {
  name_taken: 'name',
  password_weak: 'new_password',
  password_wrong: 'password',
}

/** The field a refusal is about; undefined when it is about the whole. */
export function fieldOf(error: unknown): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined
  if (typeof error.data.field === 'string') return error.data.field
  return fieldOfCode[error.code]
}
