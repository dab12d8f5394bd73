/*
 * Holds the order of the rooms (ARCHITECTURE.md, code map). The table below is the rule: a room may import the rooms
 * on its right and nothing else of ours. Besides the direction it holds what the rooms promise: Prisma stays in the
 * store, React on the screens, Node out of the browser, clock and chance out of the pure rooms.
 *
 * Imports are read twice. The bundler's own parser names every import that is there at run time; type-only imports,
 * which it drops, are read from the text, since a type ties rooms together as well.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { findCycles } from '@/lib/workflow/cycles'
import type { WorkflowGraph } from '@/lib/workflow/graph'

const root = path.resolve(import.meta.dirname, '..')

/** Words shared across rooms, types alone: they may be imported wherever the table says `terms`. */
const terms = ['hitl/terms', 'rollback/terms', 'checkpoint/terms', 'breaker/terms', 'pool/terms']
/** The plan’s words and counts, which of two rollbacks is broader, and what one sets back: screens say what the server would. */
const planWords = ['rollback/conflict', 'rollback/counts', 'rollback/outcome', 'rollback/sentence']
const engineMay = 'base ect workflow nodes policy breaker pool checkpoint rollback hitl triggers'.split(' ')
const workerMay = [...engineMay, 'engine', 'store', 'runners']
const serverMay = [...workerMay, 'formats', 'view', 'worker', 'auth']

/** Room → the rooms, or single files of rooms, that it may import. */
const mayImport: Record<string, string[]> = {
  base: [],
  ect: ['base'],
  workflow: ['base'],
  formats: ['base', 'workflow', 'nodes'],
  nodes: ['base', 'workflow'],
  policy: ['base', 'workflow'],
  breaker: ['base'],
  pool: ['base', 'workflow/graph'],
  checkpoint: ['base', 'ect'],
  rollback: ['base', 'ect', 'workflow', 'checkpoint'],
  hitl: ['base', 'ect', 'workflow/graph'],
  triggers: ['base', 'workflow'],
  engine: engineMay,
  view: ['base', 'ect', 'workflow', 'nodes', 'engine', 'breaker', ...terms],
  store: [...engineMay, 'engine'],
  runners: ['base', 'workflow', 'nodes', 'policy', 'engine', ...terms],
  worker: workerMay,
  auth: ['base', 'ect', 'hitl/roles', 'store'],
  // The lab's story tells which runs a first start brings along.
  server: [...serverMay, 'examples/lab/story'],
  cli: [...serverMay, 'server', 'examples/lab/packs'],
  ui: ['base', 'workflow', 'nodes', 'view', ...terms],
  components: [
    ...['base', 'workflow', 'nodes', 'view', 'ui', 'auth/sign-in-words', 'hitl/roles'],
    ...[...planWords, ...terms],
  ],
  app: ['server', 'auth', 'view', 'ui', 'components', 'base/problem'],
}

/** Rooms whose results follow from their arguments alone. */
const pureRooms =
  'ect workflow formats nodes policy breaker pool checkpoint rollback hitl triggers engine view'.split(' ')
const clockAndChance =
  /\b(Date\.now|new Date\(\s*\)|performance\.now|Math\.random|randomUUID|randomBytes|randomInt|getRandomValues|systemClock|mintUuid)\b/
const databases = /^(better-sqlite3|@prisma\/|\.prisma|prisma$|pg$)/
const screens = /^(react|react-dom|@xyflow\/|@tanstack\/react|radix-ui|sonner|cmdk|lucide-react)(\/|$)/
/** What cannot run in a browser, or must not be sent to one. */
const serverOnly =
  /^(node:|fs$|path$|crypto$|server-only$|next\/headers$|next-auth$|pino$|better-sqlite3$|@prisma\/)/

interface Import {
  file: string
  specifier: string
  /** The imported file, relative to the checkout; undefined for packages and Node's modules. */
  target?: string
  typeOnly: boolean
}

function sourcesIn(folder: string): string[] {
  const found = readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const place = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : sourcesIn(place)
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith('.d.ts') ? [place] : []
  })
  return found.sort()
}

const files = ['lib', 'components', 'app'].flatMap((folder) => {
  try {
    return sourcesIn(folder)
  } catch {
    return []
  }
})
/** Tests, and the builders that only tests use, may import more. */
const isTest = (file: string) => /\.test\.tsx?$/.test(file) || /(^|\/)testing\//.test(file)
const text = new Map(
  files.map((file) => [file, withoutComments(readFileSync(path.join(root, file), 'utf8'))]),
)

/** The text with its comments blanked; only comments that begin a line, so that no string is taken for one. */
function withoutComments(source: string): string {
  return source.replace(/^[ \t]*\/\*[\s\S]*?\*\//gm, '').replace(/^[ \t]*\/\/.*$/gm, '')
}

function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/')
  return top === 'lib' ? room : top
}

function targetOf(file: string, specifier: string): string | undefined {
  if (specifier.startsWith('@/')) return specifier.slice(2)
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier)
  return undefined
}

/** The file that an import without its ending means. */
function fileAt(target: string): string | undefined {
  return [`${target}.ts`, `${target}.tsx`, target].find((place) => text.has(place))
}

/** Imports that stay at run time, as the bundler's parser sees them. */
async function runtimeImports(): Promise<Import[]> {
  const found: Import[] = []
  await build({
    absWorkingDir: root,
    entryPoints: files,
    outdir: path.join(root, 'dist'),
    bundle: true,
    write: false,
    logLevel: 'silent',
    platform: 'neutral',
    loader: { '.ts': 'ts', '.tsx': 'tsx' },
    plugins: [
      {
        name: 'note-imports',
        setup(building) {
          building.onResolve({ filter: /.*/ }, ({ path: specifier, importer, kind }) => {
            if (kind === 'entry-point') return undefined
            const file = path.relative(root, importer).split(path.sep).join('/')
            const target = targetOf(file, specifier)
            found.push({ file, specifier, typeOnly: false, ...(target ? { target } : {}) })
            return { path: specifier, external: true }
          })
        },
      },
    ],
  })
  return found
}

/** Every import the text names, those of types too. */
function writtenImports(): Import[] {
  const statement =
    /^(?:import|export)\s+(type\s+)?(?:[\w*\s{},$]+?\s+from\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm
  return [...text].flatMap(([file, source]) =>
    [...source.matchAll(statement)].map((match): Import => {
      const specifier = match[2] ?? match[3] ?? ''
      const target = targetOf(file, specifier)
      return { file, specifier, typeOnly: match[1] !== undefined, ...(target ? { target } : {}) }
    }),
  )
}

/** May a file of this room import that file? */
function allowed(room: string, target: string): boolean {
  const targetRoom = roomOf(target)
  if (targetRoom === room) return true
  const inRoom = target.replace(/^lib\//, '').replace(/\.tsx?$/, '')
  return (mayImport[room] ?? []).some((may) => may === targetRoom || may === inRoom)
}

describe('the rooms', () => {
  const written = writtenImports().filter(({ file }) => !isTest(file))
  let atRunTime: Import[] = []
  beforeAll(async () => {
    atRunTime = (await runtimeImports()).filter(({ file }) => !isTest(file))
  })

  it('reads from the text every import that the compiler sees', () => {
    const seen = new Set(written.map(({ file, specifier }) => `${file} → ${specifier}`))
    const missed = atRunTime
      .map(({ file, specifier }) => `${file} → ${specifier}`)
      .filter((line) => !seen.has(line))
    // The compiler itself adds React's JSX runtime.
    expect(missed.filter((line) => !line.endsWith('react/jsx-runtime'))).toEqual([])
    expect(written.length).toBeGreaterThan(50)
  })

  it('are all in the table', () => {
    const rooms = new Set(
      files.filter((file) => file.split('/').length > 2 || !file.startsWith('lib')).map(roomOf),
    )
    expect([...rooms].filter((room) => !(room in mayImport))).toEqual([])
  })

  it('import only rooms to the right of them', () => {
    const wrong = written
      .filter(({ file, target }) => target !== undefined && !allowed(roomOf(file), target))
      .map(({ file, target }) => {
        const room = roomOf(file)
        return `${file} → ${target}   (${room} may import: ${mayImport[room]?.join(' ') || 'nothing of ours'})`
      })
    expect(wrong).toEqual([])
  })

  it('have no files that import each other, not for types either, nor round about', () => {
    const edges = written.flatMap(({ file, target }) => {
      const to = target && fileAt(target)
      return to ? [{ from: file, to }] : []
    })
    const graph = { nodes: files.map((id) => ({ id })), edges } as WorkflowGraph
    expect(findCycles(graph).map(({ nodes }) => nodes.join(' → '))).toEqual([])
  })

  it('keep the database in the store', () => {
    const wrong = written.filter(
      ({ file, specifier, target }) =>
        roomOf(file) !== 'store' && (databases.test(specifier) || target?.startsWith('lib/store/generated')),
    )
    expect(wrong.map(({ file, specifier }) => `${file} → ${specifier}   (only lib/store may)`)).toEqual([])
  })

  it('keep React on the screens', () => {
    const wrong = written.filter(
      ({ file, specifier }) => file.startsWith('lib/') && roomOf(file) !== 'ui' && screens.test(specifier),
    )
    expect(
      wrong.map(({ file, specifier }) => `${file} → ${specifier}   (only lib/ui, components, app may)`),
    ).toEqual([])
  })

  it('send nothing to the browser that needs Node or is the server’s alone', () => {
    expect(reachableFromBrowser(atRunTime)).toEqual([])
  })

  it('read no clock and no chance where results follow from arguments', () => {
    const wrong = [...text].filter(([file]) => pureRooms.includes(roomOf(file)) && !isTest(file))
    const lines = wrong.flatMap(([file, source]) =>
      source.split('\n').flatMap((line) => {
        const match = clockAndChance.exec(line)
        return match ? [`${file}: ${match[0]}   (time and chance arrive as arguments)`] : []
      }),
    )
    expect(lines).toEqual([])
  })

  it('have no barrels', () => {
    const barrels = files.filter(
      (file) =>
        // A route may hand on its handlers: Next finds them by the file's name.
        !file.startsWith('app/') &&
        (/(^|\/)index\.tsx?$/.test(file) ||
          (text.get(file) ?? '')
            .split('\n')
            .filter((line) => line.trim() !== '')
            .every((line) => /^export .* from '/.test(line))),
    )
    expect(barrels).toEqual([])
  })

  it('never ask the linter to allow `any`', () => {
    const wrong = files.filter((file) =>
      /biome-ignore[^\n]*noExplicitAny|@ts-(ignore|nocheck)/.test(
        readFileSync(path.join(root, file), 'utf8'),
      ),
    )
    expect(wrong.filter((file) => file !== 'lib/rooms.test.ts')).toEqual([])
  })
})

/** For each module the browser cannot have: the way to it from the file that is sent there. */
function reachableFromBrowser(imports: Import[]): string[] {
  const of = new Map<string, Import[]>()
  for (const one of imports) of.set(one.file, [...(of.get(one.file) ?? []), one])
  const starts = files.filter(
    (file) => /^\s*['"]use client['"]/.test(text.get(file) ?? '') || /\.worker\.ts$/.test(file),
  )
  const cameFrom = new Map<string, string | undefined>(starts.map((file) => [file, undefined]))
  const queue = [...starts]
  const wrong: string[] = []
  for (let at = 0; at < queue.length; at++) {
    const file = queue[at] as string
    for (const { specifier, target } of of.get(file) ?? []) {
      if (serverOnly.test(specifier)) wrong.push([specifier, ...wayTo(file, cameFrom)].reverse().join(' → '))
      const next = target && fileAt(target)
      if (!next || cameFrom.has(next)) continue
      cameFrom.set(next, file)
      queue.push(next)
    }
  }
  return wrong
}

function wayTo(file: string, cameFrom: Map<string, string | undefined>): string[] {
  const way = [file]
  for (let at = cameFrom.get(file); at; at = cameFrom.get(at)) way.push(at)
  return way
}
