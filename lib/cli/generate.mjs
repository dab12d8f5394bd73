/*
 * Generates the typed database client from the models. Prisma's own engine binary is not needed for that, so it is
 * kept from fetching one: the same works on a machine without a network.
 */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setStamp, stampHolds, stampOf } from './content-stamp.mjs'
import { must, root, stage } from './stages.mjs'

/**
 * Environment for Prisma's command line. Prisma asks that the file exists and can be executed; `false` is both and
 * does nothing. (`true` would make migrations "succeed" without doing anything.)
 */
export function prismaEnv() {
  const nothing = ['/usr/bin/false', '/bin/false'].find((file) => existsSync(file))
  return {
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    ...(nothing && !process.env.PRISMA_SCHEMA_ENGINE_BINARY ? { PRISMA_SCHEMA_ENGINE_BINARY: nothing } : {}),
  }
}

/** Generates the client when the models changed or it is missing. Throws StageFailed. */
export async function generateClient() {
  const made = path.join(root, 'lib/store/generated/sqlite')
  const stampFile = path.join(made, '.stamp')
  const stamp = stampOf(['prisma', 'prisma.config.ts', 'node_modules/prisma/package.json'])
  if (stampHolds(stampFile, stamp) && existsSync(path.join(made, 'client.ts'))) return
  await stage('Generating the database client', () =>
    must('The database client could not be generated', process.execPath, ['prisma/generate.mjs'], {
      env: prismaEnv(),
    }),
  )
  setStamp(stampFile, stamp)
}
