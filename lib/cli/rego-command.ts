/** `holdpoint policy eval`: what the evaluator of Rego policies makes of modules and a query. */
import { systemClock } from '@/lib/base/clock'
import type { Json } from '@/lib/base/json'
import { compileRego, RegoFailed, type RegoPolicy, RegoRefused } from '@/lib/policy/rego/rego'
import { exitCode } from './exit-codes'
import { readText } from './parse-options'
import { UsageError } from './usage-error'

export interface EvalOptions {
  rego: string[]
  query: string
  input?: string
  data?: string
}

/**
 * Prints `{ result, value? }`: every way in which the query holds with the values of its variables, and the query's own
 * value when it has one. Exit 5 with `{ refused }` when modules or query are not taken, with `{ failed }` when they
 * cannot be evaluated. Throws UsageError for files that cannot be read.
 */
export function evalCommand({ rego, query, ...files }: EvalOptions): number {
  const modules = rego.map((file) => ({ name: file, text: readText(file) }))
  const input = files.input === undefined ? undefined : jsonIn(files.input)
  const data = files.data === undefined ? {} : jsonIn(files.data)
  try {
    print(evaluated(compileRego(modules, { query }), input, data))
    return exitCode.ok
  } catch (error) {
    if (error instanceof RegoRefused) {
      for (const { source, line, column, message } of error.diagnostics)
        console.error(`${source}:${line}:${column}: ${message}`)
      print({ refused: error.diagnostics })
    } else if (error instanceof RegoFailed) {
      console.error(error.message)
      print({ failed: { code: error.code, message: error.message } })
    } else throw error
    return exitCode.failed
  }
}

function evaluated(policy: RegoPolicy, input: Json | undefined, data: Json): object {
  const now = systemClock.now()
  return { result: policy.query(input, data, now), value: policy.evaluate(input, data, now) }
}

function jsonIn(file: string): Json {
  try {
    return JSON.parse(readText(file)) as Json
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${file} is not JSON: ${(error as Error).message.slice(0, 120)}`)
  }
}

function print(answer: object): void {
  console.log(JSON.stringify(answer))
}
