import type { Principal } from '@/lib/auth/principal'
import type { RunFilter } from '@/lib/store/store'
import type { Overview } from '@/lib/view/overview-wire'
import { runRowOf } from '@/lib/view/rows'
import type { RunRow } from '@/lib/view/run-wire'
import { approvalRowOf } from '../approvals'
import { rowsWithWaits } from '../children'
import { route } from '../current'
import { json } from '../http/route'
import type { Installation } from '../installation'
import { rowsWithReasons } from '../run-waits'

/** Rows of each part of the overview; the lists have the rest. */
const shown = 8
const dayMs = 24 * 3600 * 1000
/** Ended, and not well. What fails under way stands where it stands, and its row says so. */
const failed: RunFilter = { failing: true, status: ['ended'], parent: 'none' }
/** Under way, and not only waiting for a person: those stand under what needs one. */
const moving: RunFilter[] = [
  { status: ['running', 'cancelling'], parent: 'none' },
  { status: ['rolling_back'], asking: false, parent: 'none' },
]
/** Taken back; somebody has to say whether they end or go on. */
const toChoose: RunFilter = { status: ['rolled_back'], parent: 'none' }
/** Nothing moves in them, and they wait for no person. */
const resting: RunFilter[] = [
  { status: ['paused'], parent: 'none' },
  { status: ['waiting'], asking: false, parent: 'none' },
]

/** `GET /api/v1/overview` */
export const getOverview = route(
  { auth: 'either', scope: 'runs:read', role: 'viewer' },
  async ({ installation, principal }) => json(await overviewOf(installation, principal)),
)

/** What needs a person, what fails, what runs, and what ended lately; for the API and for the page's first answer. */
export async function overviewOf(installation: Installation, principal: Principal): Promise<Overview> {
  const { runs, approvals } = installation.store
  // Of a bundle: the day that it ends with.
  const now = installation.opened?.at ?? installation.ports.timer.now()
  const [waiting, choices, failing, failedCount, running, still, recent, counts, openByRole] =
    await Promise.all([
      approvals.open({}, { limit: shown }),
      newest(installation, [toChoose]),
      runs.list(failed, { limit: shown }),
      runs.count(failed),
      newest(installation, moving),
      newest(installation, resting),
      runs.list({ status: ['ended'], failing: false, parent: 'none' }, { limit: shown }),
      runs.counts(now - dayMs),
      approvals.openByRole(),
    ])
  return {
    waiting: await Promise.all(waiting.items.map((item) => approvalRowOf(installation, item, principal))),
    toChoose: choices.rows,
    failing: failing.items.map(runRowOf),
    running: running.rows,
    resting: await rowsWithReasons(installation, still.rows),
    recent: recent.items.map(runRowOf),
    counts: {
      waiting: openByRole.reduce((sum, { open }) => sum + open, 0),
      toChoose: choices.count,
      failing: failedCount,
      running: running.count,
      resting: still.count,
      endedToday: counts.endedSince,
    },
  }
}

/** The newest runs that any of these finds, with what they wait for below them, and how many there are. */
async function newest(
  installation: Installation,
  filters: RunFilter[],
): Promise<{ rows: RunRow[]; count: number }> {
  const { runs } = installation.store
  const lists = await Promise.all(filters.map((filter) => runs.list(filter, { limit: shown })))
  const counts = await Promise.all(filters.map((filter) => runs.count(filter)))
  const found = lists.flatMap(({ items }) => items).sort((a, b) => b.startedAt - a.startedAt)
  return {
    rows: await rowsWithWaits(installation, found.slice(0, shown)),
    count: counts.reduce((sum, n) => sum + n, 0),
  }
}
