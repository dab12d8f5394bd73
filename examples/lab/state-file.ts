import { existsSync } from 'node:fs'
import { readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { writeDurably } from '../agents/disk'
import type { Values } from '../agents/kit/answers'
import type { Operation } from '../agents/tasks'

/** An agent's state as an ordinary file, which people may look at and change. Checkpoints hold its bytes and mode. */
export class StateFile {
  readonly #path: string

  constructor(
    readonly name: string,
    folder: string,
  ) {
    this.#path = path.join(folder, name)
  }

  /** Empty when there is none. */
  async text(): Promise<string> {
    return existsSync(this.#path) ? readFile(this.#path, 'utf8') : ''
  }

  /** Replaces it in one piece; its mode stays. */
  async write(text: string): Promise<void> {
    const mode = existsSync(this.#path) ? (await stat(this.#path)).mode & 0o777 : 0o644
    await writeDurably(this.#path, text, mode)
  }

  /** Writes the text unless there is a file already. */
  async begin(text: string): Promise<void> {
    if (!existsSync(this.#path)) await this.write(text)
  }

  async state(): Promise<Values> {
    if (!existsSync(this.#path)) return { absent: true }
    const bytes = (await readFile(this.#path)).toString('base64')
    return { bytes, mode: (await stat(this.#path)).mode & 0o777 }
  }

  async restore({ bytes, mode }: Values): Promise<void> {
    if (bytes === undefined) await rm(this.#path, { force: true })
    else await writeDurably(this.#path, Buffer.from(String(bytes), 'base64'), Number(mode))
  }
}

/** What an operation does with the text of its file. */
export interface Change {
  consequence: Operation['consequence']
  describe(input: Values, before: string): { sentence: string; target: string } & Values
  /** `write`: the file's new text. Throws Refusal. */
  execute(input: Values, before: string, key: string): Promise<{ output: unknown; write?: string }>
  /** `before`: what the checkpoint holds. */
  tookEffect?(input: Values, before: string | undefined, now: string, key: string): boolean | undefined
}

/** Of the bytes that a state holds; empty where there was no file. */
function textOf(bytes: unknown): string {
  return Buffer.from(String(bytes ?? ''), 'base64').toString('utf8')
}

/** An operation whose state is one file. */
export function changing(file: StateFile, change: Change): Operation {
  return {
    consequence: change.consequence,
    describe: async (input) => change.describe(input, await file.text()),
    async execute(input, key) {
      const before = await file.text()
      const { output, write } = await change.execute(input, before, key)
      if (write !== undefined && write !== before) await file.write(write)
      return { output }
    },
    state: () => file.state(),
    shown: ({ bytes }) => ({ title: file.name, text: textOf(bytes) }),
    restore: (state) => file.restore(state),
    async tookEffect(input, before, key) {
      return change.tookEffect?.(input, before && textOf(before.bytes), await file.text(), key)
    },
  }
}
