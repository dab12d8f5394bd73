/*
 * `holdpoint open BUNDLE`: a console that shows a bundle and nothing else. In this order, so that nothing of a file that
 * cannot be trusted goes further than it must:
 *
 *   read and verify ──▶ a temporary folder, 0700, with a store of its own ──▶ the console on loopback, read-only
 *        │ does not hold: refused, unless --anyway (then a red bar says so)          │ a link signs the visitor in
 *                                                                                    ╰─▶ Ctrl-C: the folder is removed
 *
 * The folder holds what the bundle says and a signing key that signs nothing. No entry's name becomes a path.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { sha256 } from '@/lib/base/hash'
import { bundleMaxBytes } from '@/lib/server/bundle/bundle'
import type { BundleContents } from '@/lib/server/bundle/contents'
import type { BundleVerdict } from '@/lib/server/bundle/verdict'
import { examineBundle } from '@/lib/server/bundle/verify-bundle'
import { prepareOpened } from '@/lib/server/prepare-opened'
import { askedToStop, Children, drainMs, type ProgramEnd } from './children'
import { exitCode } from './exit-codes'
import { readBytes } from './parse-options'
import { progressLine } from './progress'
import { answers, installationRoot, mustBeFree } from './serve'
import { UsageError } from './usage-error'
import { tell, trustedKeys } from './verify-command'

export interface OpenOptions {
  port?: number
  keys?: string
  anyway?: boolean
}

const host = '127.0.0.1'

/** Shows it until it is asked to stop. Returns 0 then; 5 when the bundle does not verify or the console fails. */
export async function openCommand(bundle: string, options: OpenOptions): Promise<number> {
  const size = statSync(bundle, { throwIfNoEntry: false })?.size ?? 0
  if (size > bundleMaxBytes) {
    throw new UsageError(`${bundle} has ${size} bytes; a bundle has at most ${bundleMaxBytes}`)
  }
  const root = installationRoot()
  if (options.port !== undefined) await mustBeFree(host, options.port)
  const { verdict, contents } = await examined(bundle, options.keys)
  if (!verdict.holds) {
    tell(bundle, verdict, options.keys)
    if (!options.anyway || !contents) {
      const why = contents ? 'add --anyway to look at it all the same' : 'nothing in it can be shown'
      console.error(`Not opened: it does not verify; ${why}.`)
      return exitCode.failed
    }
  } else tell(bundle, verdict, options.keys)
  return show(root, { bundle, verdict, contents: contents as BundleContents, port: options.port })
}

async function examined(bundle: string, keysFile: string | undefined) {
  const progress = progressLine()
  const keys = keysFile === undefined ? undefined : trustedKeys(keysFile)
  try {
    return await examineBundle(readBytes(bundle), {
      ...(keys && { keys }),
      onProgress: (done, total) => progress.say(`Verified ${done} of ${total} tokens`),
    })
  } finally {
    progress.over()
  }
}

interface Shown {
  bundle: string
  verdict: BundleVerdict
  contents: BundleContents
  port: number | undefined
}

async function show(root: string, { bundle, verdict, contents, port: asked }: Shown): Promise<number> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'holdpoint-open-'))
  // Whatever ends this process, what it put there goes with it.
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const token = randomBytes(32).toString('base64url')
    const note = await prepareOpened(folder, {
      file: path.basename(bundle),
      verdict,
      contents,
      link: sha256(token),
    })
    const port = asked ?? (await freePort())
    const origin = `http://localhost:${port}`
    const children = new Children(root)
    const ended = new Promise<ProgramEnd>((resolve) => children.onEnd(resolve))
    const stopped = askedToStop(() => children.kill())
    const next = path.join(root, 'node_modules/next/dist/bin/next')
    children.start(
      'console',
      [next, 'start', '-H', host, '-p', String(port)],
      environment(folder, note, origin, port),
    )
    const over = new AbortController()
    const outcome = await Promise.race([
      answers(host, port, over.signal),
      ended,
      stopped.then(() => 'asked' as const),
    ])
    over.abort()
    if (outcome === 'answers') {
      console.log(
        `\nRead-only at this link, from this machine alone:\n\n  ${origin}/opened/${token}\n\nStop with Ctrl-C.`,
      )
      const end = await Promise.race([ended, stopped.then(() => 'asked' as const)])
      return await finish(end, children)
    }
    return await finish(outcome, children)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

function environment(folder: string, note: string, origin: string, port: number): Record<string, string> {
  return {
    HOLDPOINT_DATA: folder,
    HOLDPOINT_OPENED: note,
    HOLDPOINT_ORIGIN: origin,
    HOLDPOINT_LAB: '0',
    HOLDPOINT_FIRST_LINK_FILE: '',
    HOLDPOINT_LOG: process.env.HOLDPOINT_LOG ?? 'warn',
    HOLDPOINT_PROXIES: '0',
    NEXTAUTH_URL: origin,
    PORT: String(port),
    HOSTNAME: host,
    NEXT_TELEMETRY_DISABLED: '1',
    NEXT_MANUAL_SIG_HANDLE: '1',
    NEXT_EXIT_TIMEOUT_MS: String(drainMs),
    NODE_ENV: 'production',
  }
}

async function finish(end: ProgramEnd | 'asked' | 'silent', children: Children): Promise<number> {
  await children.stop()
  if (end === 'asked') {
    console.log('Closed. The bundle is as it was, and nothing else was kept.')
    return exitCode.ok
  }
  console.error(end === 'silent' ? 'The console did not answer in time.' : 'The console ended by itself.')
  return exitCode.failed
}

/** A port that nothing listens on now. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ host, port: 0 }, () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}
