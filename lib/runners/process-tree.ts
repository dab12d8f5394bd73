/*
 * Ending a command means ending all it started. The kernel's group of a process is not enough: a child may call
 * setsid, fork twice and so leave both the group and the family tree. Four traces are followed, whichever is left:
 *
 *   group      the command is the leader of a group and a session of its own
 *   family     whoever has a member for a parent, at the time of looking
 *   pipes      whoever still holds the pipes the command writes to
 *   mark       a limit that is set for the command to a number nobody else has and that does nothing (the processor time
 *              of real-time scheduling); every process inherits it, whatever it forks, and it costs no environment
 *
 * First all members are stopped, in rounds until no new one appears, so that none can fork away between being seen and
 * being ended. Then they are killed. Only Linux shows these traces (/proc); elsewhere the group is what is ended.
 *
 * What escapes: a process that was started by another program on the command's wish (a service manager, cron, a
 * container engine), and one that took another account's rights, which ours may not signal.
 */
import { readdir, readFile, readlink } from 'node:fs/promises'

/** The traces of one command. */
export interface Lineage {
  /** The command itself, and the number of its group and session. */
  pid: number
  /** The number set as its limit, as /proc spells it. */
  mark?: string
  /** Its output pipes, as /proc spells them. */
  pipes: ReadonlySet<string>
}

/** Rounds of looking for new members. Each stops those it finds, so a tree of any depth takes few. */
const maxRounds = 50

/** How long the killed may take to be gone. Only one that hangs in a device or a network file system takes longer. */
const maxDyingMs = 2_000
const dyingPollMs = 5

/**
 * Stops and kills every process of the lineage and waits until they are gone. Returns those that are not: processes
 * that may not be signalled, or that hang inside the kernel.
 */
export async function endLineage(lineage: Lineage): Promise<number[]> {
  const members = new Set<number>()
  const refused = new Set<number>()
  signal(-lineage.pid, 'SIGSTOP')
  for (let round = 0; round < maxRounds; round++) {
    const fresh = (await membersOf(lineage, members)).filter((pid) => !members.has(pid) && !refused.has(pid))
    if (fresh.length === 0) break
    for (const pid of fresh) (signal(pid, 'SIGSTOP') ? members : refused).add(pid)
  }
  signal(-lineage.pid, 'SIGKILL')
  for (const pid of members) signal(pid, 'SIGKILL')
  return [...refused, ...(await stillThere(members))]
}

async function stillThere(killed: ReadonlySet<number>): Promise<number[]> {
  let left = [...killed]
  for (let waitedMs = 0; waitedMs <= maxDyingMs; waitedMs += dyingPollMs) {
    left = (await Promise.all(left.map(statusOf))).flatMap((one) => one?.pid ?? [])
    if (left.length === 0) break
    await new Promise((resolve) => setTimeout(resolve, dyingPollMs))
  }
  return left
}

/** False when the process may not be signalled; one that is gone counts as done. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

interface Seen {
  pid: number
  parent: number
  group: number
  session: number
}

async function membersOf(lineage: Lineage, known: ReadonlySet<number>): Promise<number[]> {
  const seen = (await Promise.all((await processIds()).map(statusOf))).filter((one) => one !== undefined)
  const traced = await Promise.all(seen.map((one) => isKin(one, lineage)))
  const members = new Set([...known, ...seen.filter((_, at) => traced[at]).map((one) => one.pid)])
  // Children are not always listed after their parents: looked through until nothing is added.
  for (let before = -1; before !== members.size; ) {
    before = members.size
    for (const one of seen) if (members.has(one.parent)) members.add(one.pid)
  }
  return seen.filter((one) => members.has(one.pid)).map((one) => one.pid)
}

async function processIds(): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  return names.filter((name) => /^\d+$/.test(name)).map(Number)
}

/** A running process; undefined for one that is gone, or dead and only not yet collected. */
async function statusOf(pid: number): Promise<Seen | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  // The name stands in brackets and may itself hold brackets and spaces; what counts comes after the last one.
  const [state, parent, group, session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  if (!state || 'ZX'.includes(state)) return undefined
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) }
}

async function isKin({ pid, group, session }: Seen, lineage: Lineage): Promise<boolean> {
  if (pid === process.pid) return false
  const { mark, pipes } = lineage
  if ([pid, group, session].includes(lineage.pid)) return true
  if (mark !== undefined) {
    const limits = await readFile(`/proc/${pid}/limits`, 'latin1').catch(() => '')
    if (limits.includes(mark)) return true
  }
  for (const end of [1, 2]) {
    const leads = await readlink(`/proc/${pid}/fd/${end}`).catch(() => '')
    if (pipes.has(leads)) return true
  }
  return false
}
