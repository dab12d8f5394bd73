import { Fact, Facts, Sub } from '@/components/ui/facts'
import type { WorkflowGraph } from '@/lib/workflow/graph'
import { artifactLines, promptLines } from './tool-words'

/** What a pack's states hand on and what they are told: its artifacts and its prompts, each with who uses it. */
export function PackLists({ graph }: { graph: WorkflowGraph }) {
  const artifacts = artifactLines(graph)
  const prompts = promptLines(graph)
  return (
    <>
      {artifacts.length > 0 && (
        <section aria-label="Artifacts" className="mt-4 border-t pt-3">
          <h3 className="flex items-center gap-2 font-medium">
            Artifacts <span className="num font-regular text-ink-3">{artifacts.length}</span>
          </h3>
          <ul className="mt-1">
            {artifacts.map(({ name, kind, description, writers, readers }) => (
              <li key={name} className="border-t py-2 [overflow-wrap:anywhere] first:border-t-0">
                <p>
                  <span className="mono font-medium">{name}</span> <Sub>{kind}</Sub>
                </p>
                {description && <p className="text-ink-2">{description}</p>}
                <p className="text-t1 text-ink-3">
                  {writers.length > 0 ? `Written by ${writers.join(', ')}.` : 'Nobody writes it.'}{' '}
                  {readers.length > 0 ? `Read by ${readers.join(', ')}.` : 'No prompt reads it.'}
                </p>
              </li>
            ))}
          </ul>
        </section>
      )}
      {prompts.length > 0 && (
        <section aria-label="Prompts" className="mt-4 border-t pt-3">
          <h3 className="flex items-center gap-2 font-medium">
            Prompts <span className="num font-regular text-ink-3">{prompts.length}</span>
          </h3>
          <Facts label={128} dense>
            {prompts.map(({ prompt, states, tools }) => (
              <Fact key={prompt} label={prompt}>
                {states.join(', ')}.{' '}
                <Sub>{tools.length > 0 ? `May use ${tools.join(', ')}.` : 'Without tools.'}</Sub>
              </Fact>
            ))}
          </Facts>
        </section>
      )}
    </>
  )
}
