import { readFileSync } from 'node:fs'
import type { Json } from '@/lib/base/json'
import { UsageError } from './usage-error'

/** Longest JSON taken as `--input`, the same as the API takes. */
const inputMaxBytes = 1024 * 1024

/** A whole number within bounds, for an option's value. Throws UsageError naming the option. */
export function wholeNumber(option: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d{1,9}$/.test(text) || value < min || value > max) {
      throw new UsageError(
        `${option} is "${text.slice(0, 40)}"; expected a whole number from ${min} to ${max}`,
      )
    }
    return value
  }
}

/** The value of `--input`: JSON, or a file with JSON in it (`@file`, or its path as agentd takes it). Throws UsageError. */
export function inputValue(text: string): Json {
  const file = text.startsWith('@') ? text.slice(1) : /^[\w./~-]+\.json$/.test(text) ? text : undefined
  const source = file === undefined ? text : readText(file)
  const from = file === undefined ? 'The value of --input' : `The file ${file}`
  if (Buffer.byteLength(source) > inputMaxBytes) {
    throw new UsageError(`${from} is longer than ${inputMaxBytes} bytes, the most a run's input may be`)
  }
  try {
    return JSON.parse(source) as Json
  } catch (error) {
    throw new UsageError(`${from} is not JSON: ${(error as Error).message.slice(0, 120)}`)
  }
}

/** A text file. Throws UsageError saying why it cannot be read. */
export function readText(file: string): string {
  return readBytes(file).toString('utf8')
}

/** A file's bytes. Throws UsageError saying why it cannot be read. */
export function readBytes(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${whyNot(error)}`)
  }
}

function whyNot(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
      return 'this user may not read it'
    default:
      return (error as Error).message
  }
}
