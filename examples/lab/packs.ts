/*
 * What the example packs work with, put where a console with the lab lets workflows work: their scripted answers, tools
 * and project in the folder of its files, and the server of their database in its `tools.json`. What is there already is
 * left alone.
 */
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const folders = ['answers', 'tools', 'slug-project'] as const

/** Puts it there. `examples` is the folder examples/promptpack, `files` the one that workflows work in. */
export function preparePacks(place: { examples: string; files: string; toolsFile: string }): void {
  const { examples, files, toolsFile } = place
  mkdirSync(files, { recursive: true })
  for (const folder of folders) {
    cpSync(path.join(examples, folder), path.join(files, folder), { recursive: true, force: false })
  }
  if (existsSync(toolsFile)) return
  const dataset = {
    name: 'dataset',
    command: process.execPath,
    args: [path.join(examples, 'servers/dataset-server.mjs'), path.join(files, 'work/shop.db')],
  }
  writeFileSync(toolsFile, `${JSON.stringify({ servers: [dataset] }, null, 2)}\n`, { mode: 0o600 })
}
