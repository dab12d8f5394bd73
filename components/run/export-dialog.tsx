'use client'
import { type ReactNode, useState } from 'react'
import { buttonClass } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { ErrorNote } from '@/components/ui/error-note'
import { Fact, Facts, Sub } from '@/components/ui/facts'
import { Skeleton } from '@/components/ui/skeleton'
import { tell } from '@/components/ui/toast'
import { type ExportWish, exportUrl, useExportContents } from '@/lib/ui/export-queries'
import { count } from '@/lib/ui/format-time'
import { shortId } from '@/lib/ui/short-id'
import type { ExportContents } from '@/lib/view/bundle-wire'
import { sizeWords } from '@/lib/view/value-content'

/** What "large" means where large values may stay out. */
const largeBytes = 1_000_000

/** What goes into the bundle, what does not, and how large it is; then the download. */
export function ExportDialog({ run, name, onClose }: { run: string; name: string; onClose: () => void }) {
  const [forks, setForks] = useState(false)
  const [small, setSmall] = useState(false)
  const wish: ExportWish = { forks, ...(small && { maxValueBytes: largeBytes }) }
  const contents = useExportContents(run, wish)
  const { data } = contents
  const isCounting = contents.isFetching
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Export the incident ${name}`}
      description="One file that proves what happened. Anyone can verify it without this installation, and read its report in a browser."
      actions={
        data &&
        !contents.isError && (
          <a
            href={exportUrl(run, wish)}
            download
            className={buttonClass('primary')}
            aria-busy={isCounting}
            onClick={() => {
              tell('The download has begun')
              onClose()
            }}
          >
            Download the bundle, {isCounting ? 'counting…' : sizeWords(data.size)}
          </a>
        )
      }
    >
      {contents.isError ? (
        <ErrorNote
          title="What goes in could not be counted"
          error={contents.error}
          onRetry={() => void contents.refetch()}
        />
      ) : !data ? (
        <Skeleton what="what goes in" lines={6} />
      ) : (
        <>
          <What data={data} />
          <div className="mt-3 flex flex-col gap-2">
            <Choice checked={small} onChange={setSmall}>
              Leave out values larger than {sizeWords(largeBytes)}{' '}
              <Sub>They are listed with their hashes, so that they can be proven later.</Sub>
            </Choice>
            {data.forkedFrom && (
              <Choice checked={forks} onChange={setForks}>
                With the run it was forked from{' '}
                <Sub>
                  {shortId(data.forkedFrom.run)} and those below it; without them it is named, with the token
                  it was forked at.
                </Sub>
              </Choice>
            )}
          </div>
        </>
      )}
    </Dialog>
  )
}

function What({ data }: { data: ExportContents }) {
  const { tokens, runs, workflows, decisions, values, leftOut } = data
  const { sealed, tooLarge, notStored } = leftOut
  const nothing = sealed + tooLarge.count + notStored === 0
  return (
    <Facts dense label={96}>
      <Fact label="Ledger">
        {count(tokens, 'token')}
        {runs > 1 && ` of ${count(runs, 'run')}`}, each signed <Sub>with their heads and the public keys</Sub>
      </Fact>
      <Fact label="Values">
        {count(values.count, 'value')}, {sizeWords(values.bytes)}{' '}
        <Sub>inputs, actions, outputs and artifacts</Sub>
      </Fact>
      <Fact label="Workflow">
        {count(workflows, 'version')} <Sub>as text and as the graph that was run</Sub>
      </Fact>
      <Fact label="Decisions">
        {decisions === 0 ? 'none' : count(decisions, 'decision')} <Sub>who, what, when and why</Sub>
      </Fact>
      <Fact label="Report">
        One page to read <Sub>graph, timeline, artifacts, decisions, errors; no scripts</Sub>
      </Fact>
      <Fact label="Left out">
        {nothing && 'nothing that a token names'}
        {sealed > 0 && (
          <Line>
            {count(sealed, 'sealed state')} of checkpoints <Sub>which never leave this installation</Sub>
          </Line>
        )}
        {tooLarge.count > 0 && (
          <Line>
            {count(tooLarge.count, 'value')}, {sizeWords(tooLarge.bytes)} <Sub>too large</Sub>
          </Line>
        )}
        {notStored > 0 && (
          <Line>
            {count(notStored, 'value')} <Sub>not kept here</Sub>
          </Line>
        )}
      </Fact>
    </Facts>
  )
}

function Line({ children }: { children: ReactNode }) {
  return <span className="block">{children}</span>
}

function Choice({
  checked,
  onChange,
  children,
}: {
  checked: boolean
  onChange: (checked: boolean) => void
  children: ReactNode
}) {
  return (
    <label className="flex items-start gap-2 max-md:min-h-12">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.target.checked)}
        className="mt-0.5 size-4 shrink-0 accent-ink"
      />
      <span>{children}</span>
    </label>
  )
}
