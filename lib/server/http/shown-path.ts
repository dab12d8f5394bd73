const shownChars = 200

/** The path of a request as a refusal names it: without its query, and not endless. */
export function shownPath(request: Request): string {
  const { pathname } = new URL(request.url)
  return pathname.length > shownChars ? `${pathname.slice(0, shownChars - 1)}…` : pathname
}
