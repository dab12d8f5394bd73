'use client'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Button } from '@/components/ui/button'
import { StateShape } from '@/components/ui/state'
import { NoUndoTag } from '@/components/ui/tag'
import { count } from '@/lib/ui/format-time'
import type { WorkflowDetail } from '@/lib/view/workflow-wire'
import { useMayNotImport } from './author-role'
import { BindDialog } from './bind-dialog'
import { type ToolLine, toolLines } from './tool-words'

/** The tools of a pack: what really runs each, who uses it, what its results fill; and the door to bind one. */
export function ToolsBox({ workflow }: { workflow: WorkflowDetail }) {
  const { graph } = workflow
  const [binding, setBinding] = useState<string>()
  const mayNot = useMayNotImport()
  const lines = toolLines(graph)
  const missing = lines.filter(({ isReady }) => !isReady).length
  const bindable = graph.format === 'promptpack'
  const open = graph.tools?.find(({ name }) => name === binding)
  if (lines.length === 0) return null
  return (
    <section aria-label="Tools" className="mt-4 border-t pt-3">
      <h3 className="flex items-center gap-2 font-medium">
        Tools <span className="num font-regular text-ink-3">{lines.length}</span>
      </h3>
      {missing > 0 && (
        <p role="note" className="mt-1 flex items-start gap-2 text-ink-2">
          <TriangleAlert size={16} strokeWidth={1.5} aria-hidden="true" className="mt-0.5 shrink-0" />
          {count(missing, 'tool is', 'tools are')} bound to nothing. No run can begin before{' '}
          {missing === 1 ? 'it is' : 'they are'}.
        </p>
      )}
      <ul className="mt-2">
        {lines.map((line) => (
          <Tool
            key={line.tool}
            line={line}
            onBind={bindable ? () => setBinding(line.tool) : undefined}
            mayNot={mayNot}
          />
        ))}
      </ul>
      {open && <BindDialog workflow={workflow} tool={open} onClose={() => setBinding(undefined)} />}
    </section>
  )
}

function Tool({
  line: { tool, description, does, isIrreversible, isReady, isBound, states, fills },
  onBind,
  mayNot,
}: {
  line: ToolLine
  onBind: (() => void) | undefined
  mayNot: string | undefined
}) {
  return (
    <li className="flex items-start gap-2 border-t py-2">
      <span className="mt-0.5">
        <StateShape state={isReady ? (isBound ? 'done' : 'pending') : 'unknown'} />
      </span>
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p>
          <span className="mono font-medium" title={description || undefined}>
            {tool}
          </span>{' '}
          <span className="text-ink-2">
            {does.verb} <span className="mono">{does.what}</span>
          </span>{' '}
          {isIrreversible && <NoUndoTag />}
        </p>
        <p className="text-t1 text-ink-3">
          {states.length === 0 ? 'No state uses it.' : `Used by ${states.join(', ')}.`}
          {fills.length > 0 && ` Fills ${fills.join(', ')}.`}
        </p>
      </div>
      {onBind && (
        <Button
          size="sm"
          variant={isBound ? 'quiet' : 'default'}
          aria-label={`Bind ${tool}…`}
          disabled={mayNot !== undefined}
          title={mayNot}
          onClick={onBind}
        >
          {isBound ? 'Change…' : 'Bind…'}
        </Button>
      )}
    </li>
  )
}
