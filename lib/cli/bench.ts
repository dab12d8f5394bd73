/*
 * `npm run bench`: measures, prints a table, and says of each figure whether it holds its goal. With `-- --json FILE`
 * the figures are written too, as a list of {name, value, unit, goal, holds}; `-- --only WORD` measures those whose
 * group has the word; `-- --quick` takes smaller sizes. Figures of different machines do not compare; ratios measured
 * side by side do.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Figure } from './bench/figures'
import { benchmarks } from './bench-registry'

const { values } = parseArgs({
  options: { json: { type: 'string' }, only: { type: 'string' }, quick: { type: 'boolean' } },
})
const figures: Figure[] = []
for (const { group, measure } of benchmarks) {
  if (values.only && !group.includes(values.only)) continue
  console.error(`▸ ${group} …`)
  const measured = await measure((line) => console.error(`  ${line}`), values.quick ?? false)
  figures.push(...measured)
}
console.log(table(figures))
if (values.json) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`)
process.exitCode = figures.some(({ holds }) => holds === false) ? 1 : 0

function table(rows: readonly Figure[]): string {
  const cells = rows.map(({ name, value, unit, goal, holds }) => [
    name,
    value.toLocaleString('en', { maximumSignificantDigits: 4 }),
    unit,
    goal,
    holds === undefined ? '' : holds ? 'holds' : 'MISSED',
  ])
  const all = [['what', 'value', 'unit', 'goal', ''], ...cells]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
