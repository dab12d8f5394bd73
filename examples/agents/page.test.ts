/* Runs every command of docs/agents.md, in one shell, and looks at what the page promises of each answer. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { freePorts } from '@/e2e/house'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/agents.md'), 'utf8')
const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, commands = '']) => commands)

/** Runs the blocks as they stand; gives what each printed. */
async function shown(): Promise<string[]> {
  const script = blocks.map((commands) => `${commands}\necho; echo "== end of block"`).join('\n')
  const env = { ...process.env, PORT: String(await freePorts(1)) }
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let [said, faults] = ['', '']
  shell.stdout.on('data', (chunk) => {
    said += chunk
  })
  shell.stderr.on('data', (chunk) => {
    faults += chunk
  })
  const code = await new Promise((resolve) => shell.once('close', resolve)).finally(() => endOf(shell.pid))
  expect({ code, said: code === 0 ? '' : said + faults }).toEqual({ code: 0, said: '' })
  return said.split('== end of block\n')
}

/** Ends what the shell left running, when a command before its end failed. */
function endOf(group: number | undefined): void {
  try {
    if (group !== undefined) process.kill(-group)
  } catch {
    // Nothing was left.
  }
}

it('does what the page says', async () => {
  const [, setUp = '', task = '', phases = '', older = '', seen = ''] = await shown()
  expect(setUp).toContain('"status":"ok"')
  expect(setUp).toContain('"kty":"EC"')
  const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  expect(statuses(task)).toEqual(Array(5).fill('200'))
  expect(task.match(/^execution-context: /gim)).toHaveLength(5)
  for (const part of [
    '"sentence":"Writes the note: Hello"',
    '"out_hash"',
    '"output":{"characters":5},"state_hash":"',
    '"took_effect"',
    '"state_hash"',
    '{"note":"Hello\\n"}',
  ])
    expect(task).toContain(part)
  expect(statuses(phases)).toEqual(Array(3).fill('200'))
  expect(phases).toContain('"status":"prepared"')
  expect(phases.match(/"status":"completed"/g)).toHaveLength(2)
  expect(phases).toContain('{"note":null}')
  expect(statuses(older)).toEqual(['200', '200', '202'])
  expect(older).toContain('"state_hash_after":"sha256:')
  expect(statuses(seen)).toEqual(Array(3).fill('200'))
  expect(seen).toContain('"signature_valid":true,"out_hash_matches":true,"expired":false')
  expect(seen).toContain('{"circuits":[]}')
})

it('has an example agent of at most 40 lines', () => {
  const text = readFileSync(path.join(import.meta.dirname, 'note-keeper.ts'), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
})
