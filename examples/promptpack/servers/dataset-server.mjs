/*
 * A small MCP server over stdio with a SQLite database behind it: two tables of a web shop, and two tools that look at
 * them. The database is opened for reading only, so whatever SQL comes in changes nothing; a file that is not there yet
 * is made first, the same one everywhere.
 *
 *   node examples/promptpack/servers/dataset-server.mjs /tmp/holdpoint-example/shop.db
 *
 * One answer holds at most 20 rows. What a query found is summed up beside the rows: how many there are, and of each
 * column of numbers the least, the greatest and the mean.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import Database from 'better-sqlite3'
import { z } from 'zod'

const maxRowsGiven = 20
/** A query that gives more is cut off here: its summary says so. */
const maxRowsRead = 100_000

const file = path.resolve(process.argv[2] ?? 'shop.db')
if (!existsSync(file)) makeShop(file)
const database = new Database(file, { readonly: true, fileMustExist: true })

const server = new McpServer({ name: 'dataset', version: '1.0.0' })
const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

server.registerTool(
  'run_query',
  {
    description: 'Runs one SQL query (SQLite) and gives its id, a summary and the first rows.',
    inputSchema: { sql: z.string().min(1).max(20_000) },
    annotations: readOnly,
  },
  ({ sql }) => answered(() => query(sql)),
)

server.registerTool(
  'describe_table',
  {
    description: 'The columns of a table, how many rows it has, and three of them.',
    inputSchema: { table_name: z.string().min(1).max(200) },
    annotations: readOnly,
  },
  ({ table_name }) => answered(() => describe(table_name)),
)

await server.connect(new StdioServerTransport())

/** What SQLite complains of is an answer too: whoever asked can mend the query. */
function answered(look) {
  try {
    const found = look()
    return { content: [{ type: 'text', text: JSON.stringify(found) }], structuredContent: found }
  } catch (error) {
    return { content: [{ type: 'text', text: error.message }], isError: true }
  }
}

function query(sql) {
  const statement = database.prepare(sql)
  if (!statement.reader) throw new Error('Only queries that give rows are run here')
  const rows = []
  for (const row of statement.iterate()) {
    rows.push(row)
    if (rows.length === maxRowsRead) break
  }
  const result = {
    query_id: `q_${createHash('sha256').update(sql).digest('hex').slice(0, 8)}`,
    row_count: rows.length,
    ...(rows.length === maxRowsRead ? { cut_off: true } : {}),
    summary: summaryOf(rows),
  }
  return { result, rows: rows.slice(0, maxRowsGiven) }
}

function summaryOf(rows) {
  const columns = Object.keys(rows[0] ?? {}).flatMap((name) => {
    const numbers = rows.map((row) => row[name]).filter((value) => typeof value === 'number')
    if (numbers.length === 0) return []
    const sum = numbers.reduce((all, one) => all + one, 0)
    const bounds = numbers.reduce(
      ([least, most], one) => [Math.min(least, one), Math.max(most, one)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    )
    const [min, max] = bounds
    return [[name, { min, max, mean: Math.round((sum / numbers.length) * 1_000) / 1_000 }]]
  })
  return Object.fromEntries(columns)
}

function describe(name) {
  const known = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all()
  if (!known.includes(name)) throw new Error(`There is no table ${name}; there are: ${known.join(', ')}`)
  const columns = database.prepare(`PRAGMA table_info("${name}")`).all()
  return {
    table: name,
    columns: columns.map(({ name: column, type }) => ({ name: column, type })),
    row_count: database.prepare(`SELECT count(*) FROM "${name}"`).pluck().get(),
    sample: database.prepare(`SELECT * FROM "${name}" LIMIT 3`).all(),
  }
}

/** 1,200 orders of 40 customers. Parcels that come late are sent back far more often; where they go makes no odds. */
function makeShop(target) {
  mkdirSync(path.dirname(target), { recursive: true })
  // Whole or not at all: another server may be starting beside this one.
  const draft = `${target}.${process.pid}`
  const shop = new Database(draft)
  shop.exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, region TEXT NOT NULL);
    CREATE TABLE orders (
      id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), amount_eur REAL NOT NULL,
      promised_days INTEGER NOT NULL, delivered_days INTEGER NOT NULL, returned INTEGER NOT NULL
    );
  `)
  const customer = shop.prepare('INSERT INTO customers VALUES (?, ?, ?)')
  const order = shop.prepare('INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)')
  const regions = ['north', 'east', 'south', 'west']
  shop.transaction(() => {
    for (let id = 1; id <= 40; id++) customer.run(id, `Customer ${id}`, regions[id % 4])
    for (let id = 1; id <= 1_200; id++) {
      const isLate = id % 5 === 0
      const returned = isLate ? id % 15 === 0 || id % 35 === 5 : id % 11 === 3
      const amount = 20 + ((id * 37) % 400) / 2
      order.run(
        id,
        1 + ((Math.floor(id / 60) * 7 + id) % 40),
        amount,
        3,
        isLate ? 6 + (id % 4) : 2,
        returned ? 1 : 0,
      )
    }
  })()
  shop.close()
  if (existsSync(target)) rmSync(draft)
  else renameSync(draft, target)
}
