import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { startLab } from './start-lab'

/* The lab as a program of its own: `npx tsx examples/lab/main.ts --console-jwks URL|FILE`. */

const program = new Command('lab')
  .description('Six example agents on loopback, for trying Holdpoint.')
  .option(
    '--data <folder>',
    'where the agents keep their state',
    process.env.HOLDPOINT_LAB_DATA ?? path.join('data', 'lab'),
  )
  .option(
    '--base-port <port>',
    'first of seven ports in a row; 0 takes free ones',
    port,
    port(process.env.HOLDPOINT_LAB_PORT ?? '4701'),
  )
  .option(
    '--console-jwks <url or file>',
    "the console's public keys",
    `${process.env.HOLDPOINT_ORIGIN ?? 'http://localhost:3000'}/.well-known/jwks.json`,
  )
  .parse()

const { data, basePort, consoleJwks } = program.opts<{
  data: string
  basePort: number
  consoleJwks: string
}>()

try {
  const lab = await startLab({
    dataDir: data,
    basePort,
    consoleJwks: /^https?:/.test(consoleJwks)
      ? consoleJwks
      : async () => JSON.parse(await readFile(consoleJwks, 'utf8')),
    secret: process.env.HOLDPOINT_LAB_SECRET,
    log: (sentence) => console.error(sentence),
  })
  for (const agent of lab.agents) console.log(`${agent.name.padEnd(16)} ${agent.baseUrl}  ${agent.id}`)
  if (lab.controlUrl) console.log(`${'faults'.padEnd(16)} ${lab.controlUrl}`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void lab.stop().then(() => process.exit(0)))
} catch (error) {
  console.error(`The lab could not start: ${error instanceof Error ? error.message : 'unknown'}.`)
  process.exitCode = 1
}

function port(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && (value === 0 || (value >= 1 && value <= 65_529))) return value
  throw new InvalidArgumentError('a port from 1 to 65529, or 0, was expected.')
}
