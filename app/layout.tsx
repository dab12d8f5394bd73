import { GeistMono } from 'geist/font/mono'
import { GeistSans } from 'geist/font/sans'
import type { Metadata, Viewport } from 'next'
import { cookies } from 'next/headers'
import type { ReactNode } from 'react'
import { isTheme, themeCookie } from '@/lib/ui/theme'
import './globals.css'

export const metadata: Metadata = {
  title: { default: 'Holdpoint', template: '%s · Holdpoint' },
  description: 'Agent workflows, held where a person must decide.',
  icons: { icon: '/icon.svg' },
}

export const viewport: Viewport = {
  width: 'device-width',
  initialScale: 1,
  viewportFit: 'cover',
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f4f5f4' },
    { media: '(prefers-color-scheme: dark)', color: '#0c0f0e' },
  ],
}

/** The theme is a cookie, so that the first byte already has it: no flash, and no script before the page. */
export default async function RootLayout({ children }: { children: ReactNode }) {
  const chosen = (await cookies()).get(themeCookie)?.value
  return (
    <html
      lang="en"
      className={`${GeistSans.variable} ${GeistMono.variable}`}
      data-theme={isTheme(chosen) && chosen !== 'system' ? chosen : undefined}
    >
      <body>{children}</body>
    </html>
  )
}
