import path from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { alias: { '@': path.resolve(import.meta.dirname) } },
  test: {
    include: ['{lib,components,examples,prisma}/**/*.test.{ts,tsx}'],
    setupFiles: ['vitest.setup.ts'],
    // What hangs ends some time; how long things take is for `npm run bench`, and machines differ.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    // Each file in a process of its own: native drivers and worker locks do not share a thread well.
    pool: 'forks',
  },
})
