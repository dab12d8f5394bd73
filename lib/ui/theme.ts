/** `system` follows the machine; the others force a side (see components/ui/tokens.css). */
export type Theme = 'system' | 'light' | 'dark'

/** As people choose among them. */
export const themes: { value: Theme; word: string }[] = [
  { value: 'system', word: 'As the system' },
  { value: 'light', word: 'Light' },
  { value: 'dark', word: 'Dark' },
]

/** Holds a Theme. Read by the server when it writes `<html data-theme>`; it says nothing else about a person. */
export const themeCookie = 'holdpoint_theme'

export function isTheme(value: unknown): value is Theme {
  return value === 'system' || value === 'light' || value === 'dark'
}

/** The theme this page shows now. */
export function currentTheme(): Theme {
  const set = document.documentElement.dataset.theme
  return isTheme(set) ? set : 'system'
}

/** Shows the theme at once and keeps it for a year. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser we serve.
  document.cookie = `${themeCookie}=${theme}; Path=/; Max-Age=31536000; SameSite=Lax`
}
