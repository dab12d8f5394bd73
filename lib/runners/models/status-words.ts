/** What an HTTP status of a model backend means to the person who must mend it. */
export function statusInWords(status: number): string {
  const mend =
    status === 401 || status === 403
      ? 'the key is not accepted; check it.'
      : status === 404
        ? 'it does not know the model or the path; check model and base_url.'
        : status === 429
          ? 'too many requests or no quota left; wait, or raise the limit.'
          : status >= 300 && status < 400
            ? 'it redirects, and a key is not sent elsewhere; use the final address.'
            : status >= 500
              ? 'the fault is on its side; try again later.'
              : 'it does not take the request as it is.'
  return `answered with status ${status}: ${mend}`
}
