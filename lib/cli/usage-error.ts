/** The command line was not understood. One sentence: what was found, what was expected. Ends with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
