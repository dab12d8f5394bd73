/** Every built-in function that is known, by name. What is not here is refused when a policy is loaded. */
import type { Builtin } from './builtin'
import { collectionBuiltins } from './collections'
import { encodingBuiltins } from './encoding'
import { netBuiltins } from './net'
import { numberBuiltins } from './numbers'
import { objectBuiltins } from './objects'
import { patternBuiltins } from './patterns'
import { scalarBuiltins } from './scalars'
import { stringBuiltins } from './strings'

const table = new Map<string, Builtin>(
  [
    ...numberBuiltins,
    ...collectionBuiltins,
    ...stringBuiltins,
    ...objectBuiltins,
    ...encodingBuiltins,
    ...patternBuiltins,
    ...netBuiltins,
    ...scalarBuiltins,
  ].map((one) => [one.name, one]),
)

export type { Builtin }

export function builtinNamed(name: string): Builtin | undefined {
  return table.get(name)
}
