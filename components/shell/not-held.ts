/** What a bundle does not hold, by the page that would show it. A bundle holds runs, and all that proves what they did. */
interface NotHeld {
  title: string
  why: string
}

const breakers: NotHeld = {
  title: 'A bundle holds no breakers',
  why: 'They belong to the installation. What they did to a run is in the ledger of that run.',
}

const unheld: [path: RegExp, NotHeld][] = [
  [/^\/(breakers|bulkheads)(\/|$)/, breakers],
  [
    /^\/agents(\/|$)/,
    {
      title: 'A bundle holds no agents',
      why: 'It holds the public keys of those that signed something in it; what they signed is in the ledgers of its runs.',
    },
  ],
  [
    /^\/settings(\/|$)/,
    {
      title: 'A bundle has no settings',
      why: 'Whoever has the link that the terminal printed reads it, and no one else.',
    },
  ],
  [
    /^\/workflows\/(import|plan)(\/|$)|^\/workflows\/[^/]+\/run$|^\/runs\/[^/]+\/fork$/,
    {
      title: 'A bundle is only read',
      why: 'Workflows are imported, and runs started and forked, in the installation it came from.',
    },
  ],
]

/** Why a bundle has nothing for this path; undefined where it has. */
export function notHeldAt(path: string): NotHeld | undefined {
  return unheld.find(([pattern]) => pattern.test(path))?.[1]
}
