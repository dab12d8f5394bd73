import type { ReactNode } from 'react'
import {
  AgentsIcon,
  ApprovalsIcon,
  BreakersIcon,
  OverviewIcon,
  RunsIcon,
  SettingsIcon,
  WorkflowsIcon,
} from '@/components/ui/icons'
import { links } from '@/lib/ui/links'
import { notHeldAt } from './not-held'

export interface Room {
  word: string
  href: string
  icon: ReactNode
  /** On a phone it stands behind "More": five words fit along its foot, and these are not what burns at night. */
  isLess?: true
}

/** The rooms of the console, in the order of the rail. A room that is not built is not here. */
const rooms: Room[] = [
  { word: 'Overview', href: links.overview, icon: <OverviewIcon strokeWidth={1.25} /> },
  { word: 'Approvals', href: links.approvals(), icon: <ApprovalsIcon strokeWidth={1.25} /> },
  { word: 'Runs', href: links.runs(), icon: <RunsIcon strokeWidth={1.25} /> },
  { word: 'Breakers', href: links.breakers(), icon: <BreakersIcon strokeWidth={1.25} /> },
  { word: 'Workflows', href: links.workflows, icon: <WorkflowsIcon strokeWidth={1.25} />, isLess: true },
  { word: 'Agents', href: links.agents(), icon: <AgentsIcon strokeWidth={1.25} />, isLess: true },
  // At the foot of the rail: where nobody works.
  { word: 'Settings', href: links.settings(), icon: <SettingsIcon strokeWidth={1.25} />, isLess: true },
]

/** The rooms that there is something in: of a bundle, those it holds. They all fit along the foot of a phone then. */
export function roomsOf(opened: boolean): Room[] {
  if (!opened) return rooms
  return rooms.filter(({ href }) => !notHeldAt(href)).map(({ word, href, icon }) => ({ word, href, icon }))
}

/** Pages that are reached from a room's own head. */
const besides: Record<string, string> = { [links.bulkheads]: links.breakers() }

/** True when the path is the room's or below it. */
export function isInRoom(path: string, href: string): boolean {
  const pathname = besides[path] ?? path
  return href === '/' ? pathname === '/' : pathname === href || pathname.startsWith(`${href}/`)
}
