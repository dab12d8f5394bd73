/** Why nothing can be done in a console that shows the bundle of that file name. */
export function readOnlyWords(file: string): string {
  return `This console shows the bundle ${file}, read-only: nothing in it can be changed here; do that in the installation it came from.`
}
