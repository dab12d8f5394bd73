'use client'
import { Ellipsis } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { CompareDialog } from '@/components/compare/compare-dialog'
import { Button, IconButton } from '@/components/ui/button'
import { Dialog } from '@/components/ui/dialog'
import { Field, Textarea } from '@/components/ui/field'
import { Menu, MenuItem, MenuLine } from '@/components/ui/menu'
import { tell, warn, warnOf } from '@/components/ui/toast'
import { links } from '@/lib/ui/links'
import { useRunCommand } from '@/lib/ui/run-queries'
import { shortId } from '@/lib/ui/short-id'
import { useSmallScreen } from '@/lib/ui/small-screen'
import type { RunDetail } from '@/lib/view/run-wire'
import { ExportDialog } from './export-dialog'

/** What else can be done with a run. Whatever stops it asks first, and names it. */
export function RunMenu({
  detail,
  status,
  rollBack,
  onFlag,
  show,
  onShow,
}: {
  detail: RunDetail
  status: string
  rollBack: string | undefined
  onFlag: (() => void) | undefined
  show: 'graph' | 'ledger'
  onShow: (show: 'graph' | 'ledger') => void
}) {
  const small = useSmallScreen()
  const router = useRouter()
  const [exporting, setExporting] = useState(false)
  const [asking, setAsking] = useState<'pause' | 'cancel'>()
  const [comparing, setComparing] = useState(false)
  const command = useRunCommand(detail.row.id)
  const { id, workflow } = detail.row
  const name = `${workflow}, ${shortId(id)}`

  async function act(wish: Parameters<typeof command.mutateAsync>[0], done: string) {
    try {
      await command.mutateAsync(wish)
      setAsking(undefined)
      tell(done)
    } catch (error) {
      warnOf('Nothing was changed', error)
    }
  }
  const copyLink = () =>
    navigator.clipboard.writeText(window.location.href).then(
      () => tell('Link copied'),
      () =>
        warn(
          'The link was not copied',
          'This browser keeps its clipboard closed here; copy the address line.',
        ),
    )
  const { operate } = detail.may
  const live = status !== 'ended'
  const resume = () => void act({ command: 'resume' }, `${name} goes on`)
  return (
    <>
      {operate && status === 'paused' && (
        <Button size="sm" className="max-md:hidden" busy={command.isPending} onClick={resume}>
          Resume the run
        </Button>
      )}
      {detail.may.exports && (
        <Button size="sm" className="max-xl:hidden" onClick={() => setExporting(true)}>
          Export incident…
        </Button>
      )}
      <Menu
        trigger={
          <IconButton label={`More for ${workflow}`}>
            <Ellipsis size={16} strokeWidth={2} aria-hidden="true" />
          </IconButton>
        }
      >
        {small && (
          <MenuItem onSelect={() => onShow(show === 'graph' ? 'ledger' : 'graph')}>
            {show === 'graph' ? 'Show the ledger' : 'Show the graph'}
          </MenuItem>
        )}
        {rollBack !== undefined && (
          <MenuItem onSelect={() => router.push(links.rollback(id, { node: rollBack }))}>Roll back…</MenuItem>
        )}
        {onFlag && <MenuItem onSelect={onFlag}>This looks wrong…</MenuItem>}
        {operate && status === 'paused' && <MenuItem onSelect={resume}>Resume the run</MenuItem>}
        {operate && status === 'running' && (
          <MenuItem onSelect={() => setAsking('pause')}>Pause the run…</MenuItem>
        )}
        {operate && live && status !== 'cancelling' && (
          <MenuItem danger onSelect={() => setAsking('cancel')}>
            Cancel the run…
          </MenuItem>
        )}
        <MenuItem onSelect={() => setComparing(true)}>Compare with…</MenuItem>
        <MenuLine />
        {detail.may.exports && <MenuItem onSelect={() => setExporting(true)}>Export incident…</MenuItem>}
        <MenuItem onSelect={() => void copyLink()}>Copy a link to this view</MenuItem>
      </Menu>
      {comparing && <CompareDialog row={detail.row} onClose={() => setComparing(false)} />}
      {exporting && <ExportDialog run={id} name={name} onClose={() => setExporting(false)} />}
      {asking && (
        <StopDialog
          key={asking}
          how={asking}
          name={name}
          busy={command.isPending}
          onClose={() => setAsking(undefined)}
          onAct={(reason) =>
            void act(
              { command: asking, reason },
              asking === 'pause' ? `${name} is paused` : `${name} is cancelling`,
            )
          }
        />
      )}
    </>
  )
}

const words = {
  pause: {
    title: 'Pause',
    description:
      'Steps that run go on to their end; none begins until someone resumes it. A pause does not run out.',
  },
  cancel: {
    title: 'Cancel',
    description:
      'Steps that run go on to their end, none begins, and the run ends. What was done stays done.',
  },
}

function StopDialog({
  how,
  name,
  busy,
  onClose,
  onAct,
}: {
  how: 'pause' | 'cancel'
  name: string
  busy: boolean
  onClose: () => void
  onAct: (reason: string) => void
}) {
  const [reason, setReason] = useState('')
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${words[how].title} ${name}`}
      description={words[how].description}
      actions={
        <>
          <Button
            variant={how === 'cancel' ? 'danger' : 'primary'}
            busy={busy}
            onClick={() => onAct(reason.trim())}
          >
            {words[how].title} {name}
          </Button>
          <Button variant="quiet" onClick={onClose}>
            Leave it running
          </Button>
        </>
      }
    >
      <Field label="Reason, kept in the ledger" optional>
        {(ids) => (
          <Textarea
            {...ids}
            maxLength={500}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  )
}
