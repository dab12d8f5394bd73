import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Tag } from '@/components/ui/tag'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { type DeclaredLine, declared } from './declared-words'

/** What the file declares besides its steps: what holds for its runs now, and what this version does not serve yet. */
export function DeclaredBox({ graph }: { graph: WorkflowGraph }) {
  const { now, later } = declared(graph)
  return (
    <>
      {now.length > 0 && (
        <section aria-label="Declared" className="mt-4 border-t pt-3">
          <h3 className="font-medium">What it draws on</h3>
          <Lines lines={now} />
        </section>
      )}
      {later.length > 0 && (
        <section aria-label="Served later" className="mt-4 border-t pt-3">
          <h3 className="flex items-center gap-2 font-medium">
            What begins and guards it <Tag>served later</Tag>
          </h3>
          <p className="text-ink-3">
            Read, checked and kept. This version does not act on it: runs begin here, or through the API.
          </p>
          <Lines lines={later} />
        </section>
      )}
    </>
  )
}

function Lines({ lines }: { lines: DeclaredLine[] }) {
  return (
    <Facts label={96} dense>
      {lines.map(({ label, lines }) => (
        <Fact key={label} label={label}>
          {lines.map(({ main, sub }) => (
            <span key={main} className="block">
              {main} {sub && <Sub>{sub}</Sub>}
            </span>
          ))}
        </Fact>
      ))}
    </Facts>
  )
}
