/** A line that says how far something is: rewritten on a terminal, and every few seconds elsewhere, on standard error. */
const everyMs = { terminal: 100, elsewhere: 5_000 }

/** Returns a function that takes the line as it is now, and one that clears it at the end. */
export function progressLine(stream: NodeJS.WriteStream = process.stderr) {
  const pause = stream.isTTY ? everyMs.terminal : everyMs.elsewhere
  let lastAt = Date.now()
  let isShown = false
  return {
    say(line: string): void {
      const now = Date.now()
      if (now - lastAt < pause) return
      lastAt = now
      isShown = true
      stream.write(stream.isTTY ? `\r\u001b[2K${line}` : `${line}\n`)
    },
    over(): void {
      if (isShown && stream.isTTY) stream.write('\r\u001b[2K')
    },
  }
}
