/*
 * The log: one JSON line an event, a sentence with its ids. Secrets never reach it: what a caller forgot is struck out by
 * name here, and errors are written by their own words and stack, never with the request that caused them.
 */
import pino, { type DestinationStream, type Logger } from 'pino'
import { isProblem } from '@/lib/base/problem'

export type Log = Logger

/** Member names that are struck out wherever they stand, up to two levels deep. */
const secretNames = [
  'password',
  'newPassword',
  'token',
  'secret',
  'apiKey',
  'privateKey',
  'authorization',
  'cookie',
  '["set-cookie"]',
  '["execution-context"]',
  'link',
  'body',
  'snapshot',
]

const paths = secretNames.flatMap((name) => {
  const dotted = name.startsWith('[') ? name : `.${name}`
  return [name, `*${dotted}`, `*.*${dotted}`]
})

/** A log at this level (`info` unless said) that writes to standard error, or to what a test gives. */
export function createLog(level = 'info', destination: DestinationStream = pino.destination(2)): Log {
  return pino(
    {
      level,
      base: undefined,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths, censor: '[struck out]' },
      serializers: { err: plainError },
    },
    destination,
  )
}

/** An error as the log keeps it. A Problem's data may name a person's input, so only its code goes along. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error).slice(0, 500) }
  const code = isProblem(error) ? error.code : (error as NodeJS.ErrnoException).code
  return {
    name: error.name,
    message: error.message.slice(0, 2_000),
    code,
    stack: error.stack?.slice(0, 8_000),
    cause:
      error.cause instanceof Error
        ? { name: error.cause.name, message: error.cause.message.slice(0, 2_000) }
        : undefined,
  }
}
