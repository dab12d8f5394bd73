/** Next calls this once when the server starts, never during the build. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs') return
  const { boot } = await import('./lib/server/boot')
  boot()
}
