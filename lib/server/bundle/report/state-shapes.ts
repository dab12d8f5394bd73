import type { ShownState } from '@/lib/view/shown-state'
import { html, type Markup } from './markup'

/*
 * The shapes and words of states, as components/ui/state.tsx has them for screens (16 px grid, stroke 1.5). A report has
 * no React; state-shapes.test.ts holds that the two tables are the same.
 */
const shapes: Record<ShownState, Markup> = {
  pending: html`<circle cx="8" cy="8" r="5.25"/>`,
  running: html`<circle cx="8" cy="8" r="5.25" opacity=".22"/><path d="M8 2.75A5.25 5.25 0 1 1 2.75 8" stroke-width="2"/>`,
  waiting: html`<path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2.75" stroke-linecap="butt"/>`,
  done: html`<path d="M3 8.5l3.25 3.25L13 4.75" stroke-width="1.75"/>`,
  failed: html`<path d="M4 4l8 8M12 4l-8 8" stroke-width="2"/>`,
  rolled_back: html`<path d="M5.5 3L2.5 6l3 3"/><path d="M2.5 6h7a3.5 3.5 0 0 1 0 7H6"/>`,
  escalated: html`<path d="M4 2.25v12"/><path d="M4 3h8.5l-2.25 2.75L12.5 8.5H4z" fill="currentColor"/>`,
  skipped: html`<path d="M3 8h10" stroke-width="1.75"/>`,
  cancelled: html`<rect x="3.75" y="3.75" width="8.5" height="8.5" rx="1.5"/>`,
  exhausted: html`<path d="M2.5 8h7.25M6.75 5l3 3-3 3M13 3v10"/>`,
  unknown: html`<path d="M5.5 6a2.5 2.5 0 1 1 3.6 2.25C8.3 8.7 8 9.2 8 10"/><path d="M8 12.75v.01" stroke-width="2"/>`,
}

/** The name a state has in the style sheet; one that is not known looks unknown. */
export function stateClass(shown: string): ShownState {
  return Object.hasOwn(shapes, shown) ? (shown as ShownState) : 'unknown'
}

/** The shape within a drawing, its top left corner at a place. */
export function shapeAt(shown: string, x: number, y: number): Markup {
  const state = stateClass(shown)
  return html`<g class="shape s-${state}" transform="translate(${x} ${y})">${shapes[state]}</g>`
}

/** Shape and words, for a line of text. */
export function stateMark(shown: string, words: string): Markup {
  const state = stateClass(shown)
  return html`<span class="state s-${state}"><svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><g class="shape s-${state}">${shapes[state]}</g></svg><bdi>${words}</bdi></span>`
}
