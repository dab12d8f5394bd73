/*
 * Makes the Prisma clients from the models (lib/store/generated, not in git). Needs no network: `generate` has no use
 * for the schema engine that Prisma's CLI would download first, so it is told that `false` is that engine. (`true`
 * would make Prisma's own migration commands "succeed" while doing nothing.)
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const cli = createRequire(import.meta.url).resolve('prisma/build/index.js')
const noEngine = ['/bin/false', '/usr/bin/false'].find((file) => existsSync(file))
const result = spawnSync(process.execPath, [cli, 'generate', '--schema', 'prisma/sqlite'], {
  cwd: root,
  encoding: 'utf8',
  env: {
    ...process.env,
    ...(noEngine && { PRISMA_SCHEMA_ENGINE_BINARY: noEngine }),
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  },
})
if (result.status !== 0) {
  process.stderr.write(`${result.stdout}${result.stderr}${result.error ?? ''}`)
  console.error('Prisma could not make the client from prisma/sqlite; the lines above say why')
  process.exit(1)
}
