import path from 'node:path'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { alias: { '@': path.resolve(import.meta.dirname) } },
  test: {
    include: ['{lib,components,examples,prisma}/**/*.test.{ts,tsx}'],
    setupFiles: ['vitest.setup.ts'],
    // A simulation of 2,000 seeds is one test.
    testTimeout: 120_000,
    hookTimeout: 60_000,
    // Each file in a process of its own: native drivers and worker locks do not share a thread well.
    pool: 'forks',
  },
})
