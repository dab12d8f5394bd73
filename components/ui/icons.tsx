import type { ReactNode, SVGProps } from 'react'

/*
 * The few shapes that are ours and that no icon set has. 16 px grid, stroke 1.5; states have their own in state.tsx,
 * everything else comes from lucide-react at the same size and stroke.
 */

interface IconProps extends SVGProps<SVGSVGElement> {
  /** Side in px. */
  size?: number
}

/** The frame every own icon is drawn in. Hidden from readers: the word beside it speaks. */
export function Icon({ size = 16, children, ...rest }: IconProps & { children: ReactNode }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...rest}
    >
      {children}
    </svg>
  )
}

/** A path that comes to a gate and goes on only after it: the product's mark. */
export function BrandMark() {
  return (
    <svg width="18" height="16" viewBox="0 0 18 16" fill="none" stroke="currentColor" aria-hidden="true">
      <path d="M0 8h6M11.5 8H13M15 8h1.5" strokeWidth="1.75" />
      <path d="M8.5 1.5v13" strokeWidth="2.5" />
    </svg>
  )
}

/** The mark at rest: for pages with nothing on them. */
export function GateMark() {
  return (
    <svg width="56" height="40" viewBox="0 0 56 40" fill="none" stroke="currentColor" aria-hidden="true">
      <path d="M2 20h18M36 20h3M43 20h3M50 20h3" strokeWidth="1.5" />
      <path d="M28 6v28" strokeWidth="3" />
    </svg>
  )
}

/** A struck return arrow: cannot be undone. */
export function NoUndoIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M5.5 3L2.5 6l3 3" />
      <path d="M2.5 6h7a3.5 3.5 0 0 1 0 7H7" />
      <path d="M13.5 2.5l-10 11" />
    </Icon>
  )
}

/** Two arrows past each other: taken back by doing something else. */
export function CompensateIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M2.5 5h8.5M8.5 2.5L11 5 8.5 7.5" />
      <path d="M13.5 11H5M7.5 8.5L5 11l2.5 2.5" />
    </Icon>
  )
}

/** Connected. */
export function LiveDot(props: IconProps) {
  return (
    <Icon {...props}>
      <circle cx="8" cy="8" r="5" fill="currentColor" stroke="none" />
    </Icon>
  )
}

/** A line that was cut. */
export function CutIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M2 8h3.5M10.5 8H14M6.5 5.5v5M9.5 5.5v5" />
    </Icon>
  )
}

export function OverviewIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M2.5 11.5a5.5 5.5 0 1 1 11 0" />
      <path d="M8 11.5L10.75 8" />
    </Icon>
  )
}

export function ApprovalsIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <rect x="2.5" y="2.5" width="11" height="11" rx="1" />
      <path d="M6.5 5.75v4.5M9.5 5.75v4.5" />
    </Icon>
  )
}

export function RunsIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <circle cx="4" cy="4" r="1.75" />
      <circle cx="4" cy="12" r="1.75" />
      <circle cx="12" cy="8" r="1.75" />
      <path d="M5.75 4.5l4.65 2.75M5.75 11.5l4.65-2.75" />
    </Icon>
  )
}

/** Somebody outside, with a line to us. */
export function AgentsIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <circle cx="10.5" cy="5" r="2.5" />
      <path d="M6 13.5a4.5 4.5 0 0 1 7.5-3.35" />
      <path d="M2.5 7.5h3" />
    </Icon>
  )
}

export function WorkflowsIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <rect x="2.5" y="2.5" width="4.5" height="4" rx=".5" />
      <rect x="9" y="9.5" width="4.5" height="4" rx=".5" />
      <path d="M4.75 6.5v5H9" />
    </Icon>
  )
}

/** Two sliders. */
export function SettingsIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M2.5 5h6M12 5h1.5M2.5 11H5M8.5 11h5" />
      <circle cx="10.25" cy="5" r="1.75" />
      <circle cx="6.75" cy="11" r="1.75" />
    </Icon>
  )
}

/** A lever that is level: calls pass. */
export function BreakersIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <circle cx="3" cy="9.5" r="1.5" />
      <circle cx="13" cy="9.5" r="1.5" />
      <path d="M4.5 9.5h7" />
    </Icon>
  )
}

export function AgentIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M8 1.75l5.4 3.1v6.3L8 14.25l-5.4-3.1v-6.3z" />
      <circle cx="8" cy="8" r="1.5" fill="currentColor" stroke="none" />
    </Icon>
  )
}

/** A shield with a tick: signatures that hold. */
export function VerifiedIcon(props: IconProps) {
  return (
    <Icon {...props}>
      <path d="M8 2l5 1.75v4c0 3-2 5.2-5 6.25-3-1.05-5-3.25-5-6.25v-4z" />
      <path d="M5.75 8L7.5 9.75l3-3.25" />
    </Icon>
  )
}
