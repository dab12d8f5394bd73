import { existsSync } from 'node:fs'
import { defineConfig, devices } from '@playwright/test'

/** `npm test` names the browser it found or installed; run by hand, Debian's is taken where there is one. */
const executablePath =
  process.env.HOLDPOINT_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(existsSync)

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results/browser',
  // Each worker runs an installation of its own (e2e/installation.ts), so files may run side by side.
  workers: 2,
  retries: 0,
  forbidOnly: true,
  // What hangs ends some time; how long things take is for `npm run bench`, and machines differ.
  timeout: 900_000,
  expect: { timeout: 120_000 },
  reporter: [['list']],
  use: {
    ...devices['Desktop Chrome'],
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(executablePath ? { executablePath } : {}),
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
  },
})
