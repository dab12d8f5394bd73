'use client'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Field, Input, Select } from '@/components/ui/field'
import { StateShape } from '@/components/ui/state'
import { sentenceOf } from '@/lib/ui/api'
import { type CallWish, usePolicyCheck } from '@/lib/ui/workflow-queries'
import type { PolicyCheck, WorkflowDetail } from '@/lib/view/workflow-wire'
import { policyLines } from './policy-words'

/** What each tool acts on, and how that is asked for. */
const tools = {
  'fs.read': { word: 'read a file', label: 'Path', member: 'path' },
  'fs.write': { word: 'write a file', label: 'Path', member: 'path' },
  'env.read': { word: 'read a variable', label: 'Name', member: 'key' },
  'http.request': { word: 'send a request', label: 'URL', member: 'url' },
  'shell.run': { word: 'run a command', label: 'Command, with its whole path', member: 'command' },
  'mcp.tool': { word: 'call an MCP tool', label: 'Tool', member: 'name' },
  'mcp.resource': { word: 'read an MCP resource', label: 'URI', member: 'uri' },
} as const

type Tool = keyof typeof tools

/** A workflow's policy in words, and a call to try against it. */
export function PolicyBox({ workflow }: { workflow: WorkflowDetail }) {
  return (
    <section aria-label="Policy" className="mt-4 border-t pt-3">
      <h3 className="font-medium">Policy</h3>
      <Facts label={96} dense>
        {policyLines(workflow.graph).map(({ label, rules, words }) => (
          <Fact key={label} label={label}>
            {rules.map((rule) => (
              <span key={rule} className="mono block">
                {rule}
              </span>
            ))}
            {words && (rules.length > 0 ? <Sub>{words}</Sub> : words)}
          </Fact>
        ))}
      </Facts>
      <TryCall version={workflow.version} />
    </section>
  )
}

function TryCall({ version }: { version: string }) {
  const [tool, setTool] = useState<Tool>('fs.read')
  const [method, setMethod] = useState('GET')
  const [target, setTarget] = useState('')
  const check = usePolicyCheck(version)
  const { label, member } = tools[tool]
  const change = <T,>(set: (value: T) => void) => {
    return (value: T) => {
      set(value)
      check.reset()
    }
  }
  const wish: CallWish = { tool, [member]: target, ...(tool === 'http.request' ? { method } : {}) }
  return (
    <form
      aria-label="Would this be allowed?"
      className="mt-3 flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (target !== '') check.mutate(wish)
      }}
    >
      <Field label="Would it be allowed to">
        {(ids) => (
          <Select {...ids} value={tool} onChange={(event) => change(setTool)(event.target.value as Tool)}>
            {Object.entries(tools).map(([name, { word }]) => (
              <option key={name} value={name}>
                {word}
              </option>
            ))}
          </Select>
        )}
      </Field>
      {tool === 'http.request' && (
        <Field label="Method">
          {(ids) => (
            <Select {...ids} value={method} onChange={(event) => change(setMethod)(event.target.value)}>
              {['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <Field label={label}>
        {(ids) => (
          <Input
            {...ids}
            className="mono"
            value={target}
            autoComplete="off"
            spellCheck={false}
            maxLength={4096}
            onChange={(event) => change(setTarget)(event.target.value)}
          />
        )}
      </Field>
      <Button type="submit" size="sm" className="self-start" disabled={target === '' || check.isPending}>
        Ask the policy
      </Button>
      <div role="status">
        {check.data && <Answer answer={check.data} />}
        {check.isError && <p className="text-failed-ink">{sentenceOf(check.error)}</p>}
      </div>
    </form>
  )
}

const askedWords = {
  folders: 'Folders',
  targets: 'Addresses',
  allowlist: 'Allowlist',
  rego: 'Rego',
} satisfies Record<PolicyCheck['answers'][number]['by'], string>

function Answer({ answer }: { answer: PolicyCheck }) {
  return (
    <div className="rounded-r2 border bg-well px-3 py-2">
      <p className="flex items-center gap-2 font-medium">
        <StateShape state={answer.allowed ? 'done' : 'failed'} />
        {answer.allowed ? 'Allowed' : 'Denied'}
      </p>
      <p className="mt-1 text-ink-2 [overflow-wrap:anywhere]">{answer.sentence}</p>
      {answer.answers.length > 0 && (
        <Facts label={80} dense className="mt-1">
          {answer.answers.map(({ by, allowed, rule }) => (
            <Fact key={by} label={askedWords[by]}>
              {allowed ? 'yes' : 'no'}, <span className="mono">{rule}</span>
            </Fact>
          ))}
        </Facts>
      )}
    </div>
  )
}
