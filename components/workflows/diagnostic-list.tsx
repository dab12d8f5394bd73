import { Info, TriangleAlert } from 'lucide-react'
import { StateMark } from '@/components/ui/state'
import { type Diagnostic, worstFirst } from '@/lib/base/diagnostic'

/** Every fault at once, the worst first: how bad, where, what, and how to mend it. A click goes to the place. */
export function DiagnosticList({
  diagnostics,
  onGoTo,
}: {
  diagnostics: readonly Diagnostic[]
  onGoTo: (line: number, column: number) => void
}) {
  return (
    <ul aria-label="Diagnostics">
      {worstFirst(diagnostics).map((fault) => (
        <li key={`${fault.line} ${fault.column} ${fault.code} ${fault.path}`}>
          <button
            type="button"
            onClick={() => onGoTo(fault.line, fault.column)}
            className="ring-inside grid min-h-9 w-full grid-cols-[84px_56px_minmax(0,1fr)] items-start gap-x-3 border-b px-4 py-2 text-left hover:bg-hover max-md:grid-cols-[84px_minmax(0,1fr)]"
          >
            {fault.severity === 'error' ? (
              <StateMark state="failed">error</StateMark>
            ) : fault.severity === 'info' ? (
              <span className="inline-flex items-center gap-1.5 text-ink-3">
                <Info size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
                note
              </span>
            ) : (
              <span className="inline-flex items-center gap-1.5 text-ink-2">
                <TriangleAlert size={16} strokeWidth={1.5} aria-hidden="true" className="shrink-0" />
                warning
              </span>
            )}
            <span className="mono leading-5 text-ink-3">
              {fault.line}:{fault.column}
            </span>
            <span className="[overflow-wrap:anywhere] max-md:col-span-2">
              <b>{fault.message}</b> <span className="text-ink-3">{fault.mend}</span>{' '}
              <span className="mono whitespace-nowrap text-t1 text-ink-3">{fault.code}</span>
            </span>
          </button>
        </li>
      ))}
    </ul>
  )
}

/** "2 errors" and "1 warning", each with its shape; nothing when there is none. */
export function DiagnosticCounts({ diagnostics }: { diagnostics: readonly Diagnostic[] }) {
  const errors = diagnostics.filter((fault) => fault.severity === 'error').length
  const warnings = diagnostics.filter((fault) => fault.severity === 'warning').length
  return (
    <>
      {errors > 0 && (
        <StateMark state="failed">
          {errors} {errors === 1 ? 'error' : 'errors'}
        </StateMark>
      )}
      {warnings > 0 && (
        <span className="inline-flex items-center gap-1.5 text-ink-2">
          <TriangleAlert size={16} strokeWidth={1.5} aria-hidden="true" />
          {warnings} {warnings === 1 ? 'warning' : 'warnings'}
        </span>
      )}
    </>
  )
}
