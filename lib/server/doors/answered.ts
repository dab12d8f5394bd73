/** A body that was kept, given again byte for byte. */
export function answered(body: string, status = 200): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json' } })
}
