import path from 'node:path'
import type { Installation } from './installation'

/** The latest version of a workflow of the library: by its name, or by a file name that says the same: `workflows/enrich-a.toml` is `enrich-a` or `enrich_a`. */
export async function libraryVersion(
  house: Pick<Installation, 'store'>,
  workflow: string,
): Promise<string | undefined> {
  const stem = path.basename(workflow).replace(/(\.atd)?\.(toml|json|ya?ml)$/i, '')
  const plain = (name: string) => name.toLowerCase().replaceAll('-', '_')
  const all = await house.store.workflows.latest()
  const found =
    all.find(({ name }) => name === workflow) ??
    all.find(({ name }) => name === stem) ??
    all.find(({ name }) => plain(name) === plain(stem))
  return found?.version
}
