/* What a program says to the console over HTTP, and what comes back: status, headers and JSON together. */
import type { ApprovalCard, ApprovalRow } from '@/lib/view/approval-wire'
import type { RunDetail } from '@/lib/view/run-wire'
import type { Page, ProblemDetails } from '@/lib/view/wire'
import type { WorkflowRow } from '@/lib/view/workflow-wire'

const heldWithinMs = 120_000

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export class Api {
  constructor(
    readonly origin: string,
    /** An API token; absent: nobody. */
    readonly token?: string,
  ) {}

  async get<T = unknown>(path: string, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send<T>('GET', path, undefined, headers)
  }

  async post<T = unknown>(
    path: string,
    body: unknown = {},
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    return this.send<T>('POST', path, JSON.stringify(body), {
      'content-type': 'application/json',
      ...headers,
    })
  }

  /** Anything, as it is: for requests no well-meaning client would send. */
  async send<T = unknown>(
    method: string,
    path: string,
    body: NonNullable<RequestInit['body']> | undefined,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const bearer: Record<string, string> = this.token ? { authorization: `Bearer ${this.token}` } : {}
    const response = await fetch(new URL(path, this.origin), {
      method,
      headers: { ...bearer, ...headers },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: parsed(text) as T }
  }

  /** The answer's body, when it is what was asked for. Throws with the refusal's own sentence. */
  async must<T>(answer: Promise<Answer<T>>): Promise<T> {
    const { status, body } = await answer
    if (status < 400) return body
    throw new Error(`${status}: ${(body as ProblemDetails | undefined)?.detail ?? 'no reason given'}`)
  }

  /** Starts a run of a workflow by its name; gives the run's id. */
  async startRun(workflow: string, input: object = {}): Promise<string> {
    return (await this.must(this.post<{ id: string }>('/api/v1/runs', { workflow, input }))).id
  }

  async importWorkflow(source: string | object): Promise<WorkflowRow> {
    const text = typeof source === 'string' ? source : JSON.stringify(source)
    const type = { 'content-type': 'application/atd-workflow+json' }
    return this.must(this.send<WorkflowRow>('POST', '/api/v1/workflows', text, type))
  }

  run(id: string): Promise<RunDetail> {
    return this.must(this.get<RunDetail>(`/api/v1/runs/${id}`))
  }

  /** The open question of a run, if there is one. */
  async openApproval(run: string): Promise<ApprovalRow | undefined> {
    const { items } = await this.must(this.get<Page<ApprovalRow>>('/api/v1/approvals?limit=200'))
    return items.find((item) => item.run === run)
  }

  /** The question that holds a run, once it does. Throws when the run ends without asking. */
  async held(run: string): Promise<ApprovalCard> {
    const until = Date.now() + heldWithinMs
    for (;;) {
      const row = await this.openApproval(run)
      if (row) return this.approval(row.id)
      const { row: state } = await this.run(run)
      if (state.status === 'ended' || Date.now() > until) {
        throw new Error(`${run} asks nobody: ${JSON.stringify(state)}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  approval(id: string): Promise<ApprovalCard> {
    return this.must(this.get<ApprovalCard>(`/api/v1/approvals/${id}`))
  }
}

function parsed(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
