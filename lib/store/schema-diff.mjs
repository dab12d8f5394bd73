/*
 * Prints the SQL that the migrations folder lacks to reach the models, or with --check exits 2 when there is any:
 *
 *   node lib/store/schema-diff.mjs sqlite            the SQL for the next migration, for a person to review
 *   node lib/store/schema-diff.mjs sqlite --check    drift check, in the tests
 *
 * It is `prisma migrate diff` without the engine binary that Prisma's CLI downloads: the same schema engine as
 * WebAssembly, from npm, against a shadow database in memory. So it works where nothing can be fetched.
 */
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils'

const root = path.resolve(import.meta.dirname, '../..')

/** What a database needs to be compared: its name in the lock file, and a factory of empty databases. */
const databases = {
  sqlite: {
    provider: 'sqlite',
    factory: () => ({
      provider: 'sqlite',
      adapterName: 'better-sqlite3',
      connect: () => new PrismaBetterSqlite3({ url: ':memory:' }).connect(),
      connectToShadowDb: async () => {
        const adapter = await new PrismaBetterSqlite3({ url: ':memory:' }).connect()
        const executeRaw = adapter.executeRaw.bind(adapter)
        // A migration is many statements; the adapter's executeRaw takes one, its executeScript any number.
        adapter.executeRaw = async (query) => {
          if (query.args.length > 0) return executeRaw(query)
          await adapter.executeScript(query.sql)
          return 0
        }
        return adapter
      },
    }),
  },
}

async function schemaEngine() {
  const require = createRequire(import.meta.url)
  const directory = path.dirname(require.resolve('@prisma/schema-engine-wasm'))
  const bindings = await import(pathToFileURL(path.join(directory, 'schema_engine_bg.js')).href)
  const module = new WebAssembly.Module(fs.readFileSync(path.join(directory, 'schema_engine_bg.wasm')))
  const instance = new WebAssembly.Instance(module, { './schema_engine_bg.js': bindings })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return bindings.SchemaEngine
}

/** Every .prisma file of a schema folder; the link to the shared models is followed. */
function schemaFiles(folder) {
  return fs.readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name)
    if (fs.statSync(file).isDirectory()) return name === 'migrations' ? [] : schemaFiles(file)
    return file.endsWith('.prisma') ? [{ path: file, content: fs.readFileSync(file, 'utf8') }] : []
  })
}

function migrationsOf(folder, provider) {
  const names = fs
    .readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
  return {
    baseDir: folder,
    lockfile: { path: 'migration_lock.toml', content: `provider = "${provider}"\n` },
    shadowDbInitScript: '',
    migrationDirectories: names.map((name) => ({
      path: name,
      migrationFile: {
        path: 'migration.sql',
        content: { tag: 'ok', value: fs.readFileSync(path.join(folder, name, 'migration.sql'), 'utf8') },
      },
    })),
  }
}

const [name = '', flag] = process.argv.slice(2)
const database = databases[name]
if (!database || (flag !== undefined && flag !== '--check')) {
  console.error(`Usage: node lib/store/schema-diff.mjs ${Object.keys(databases).join('|')} [--check]`)
  process.exit(2)
}
const files = schemaFiles(path.join(root, 'prisma', name))
const migrations = migrationsOf(path.join(root, 'prisma', name, 'migrations'), database.provider)
const factory = bindMigrationAwareSqlAdapterFactory(database.factory())
process.on('uncaughtException', (error) => {
  // The engine throws a number; the adapter kept what really happened.
  console.error(error.message, factory.errorRegistry.consumeError(0) ?? '')
  process.exit(1)
})
const SchemaEngine = await schemaEngine()
const engine = await SchemaEngine.new(
  { datamodels: files.map((file) => [file.path, file.content]) },
  () => {},
  factory,
)
const diff = await engine.diff({
  from: migrations.migrationDirectories.length > 0 ? { tag: 'migrations', ...migrations } : { tag: 'empty' },
  to: { tag: 'schemaDatamodel', files },
  script: true,
  exitCode: true,
  shadowDatabaseUrl: null,
  filters: { externalTables: [], externalEnums: [] },
})
if (flag !== '--check') {
  process.stdout.write(diff.stdout ?? '')
} else if (diff.exitCode !== 0) {
  console.error(
    `The models in prisma/ ask for what prisma/${name}/migrations does not make. Add a migration with this SQL:`,
  )
  console.error(diff.stdout ?? '')
  process.exitCode = 2
} else {
  console.log(`prisma/${name}/migrations makes what the models ask for (${files.length} files)`)
}
