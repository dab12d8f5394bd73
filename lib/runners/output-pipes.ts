/*
 * Pipes for what a command writes. Node gives a child sockets, and a socket cannot be opened again by its name: a
 * script that writes to /dev/stdout or /dev/stderr fails on it. So two named pipes are made, opened at both ends, and
 * their names removed before the command starts; it inherits the writing ends and nobody else can find them.
 */
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'

// Bare descriptors: a socket takes the reading ends over, and two owners would close them twice.
const open = promisify(fs.open)
const close = promisify(fs.close)
const run = promisify(execFile)
const { O_RDONLY, O_WRONLY, O_NONBLOCK } = fs.constants

export interface OutputPipes {
  stdout: Readable
  stderr: Readable
  /** What the child gets as its stdout and stderr. */
  writeEnds: [number, number]
  /** How /proc names them at every process that holds one. */
  names: [string, string]
  /** Closes our own copies of the writing ends: from then on the pipes end when the child's do. Twice is once. */
  handedOver(): Promise<void>
}

/** Two pipes, or undefined where named pipes cannot be made. */
export async function outputPipes(): Promise<OutputPipes | undefined> {
  const opened: number[] = []
  let folder: string | undefined
  const end = async (file: string, flags: number) => {
    const descriptor = await open(file, flags)
    opened.push(descriptor)
    return descriptor
  }
  try {
    folder = await mkdtemp(path.join(tmpdir(), 'holdpoint-pipes-'))
    const [out, err] = [path.join(folder, 'stdout'), path.join(folder, 'stderr')]
    await run('/usr/bin/mkfifo', ['-m', '600', out, err], { timeout: 10_000 })
    // The reading ends first and without waiting for a writer; then each writing end finds its reader.
    const readEnds = [await end(out, O_RDONLY | O_NONBLOCK), await end(err, O_RDONLY | O_NONBLOCK)] as const
    const writeEnds: [number, number] = [await end(out, O_WRONLY), await end(err, O_WRONLY)]
    let closing: Promise<unknown> | undefined
    const [stdout, stderr] = readEnds.map((fd) => new Socket({ fd, readable: true, writable: false }))
    if (!stdout || !stderr) return undefined
    return {
      stdout,
      stderr,
      writeEnds,
      names: [`${out} (deleted)`, `${err} (deleted)`],
      // Once: a descriptor's number soon belongs to something else.
      handedOver: async () => {
        closing ??= Promise.all(writeEnds.map((fd) => close(fd)))
        await closing
      },
    }
  } catch {
    await Promise.all(opened.map((fd) => close(fd).catch(() => undefined)))
    return undefined // The child gets sockets then, which most programs cannot tell from pipes.
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => undefined)
  }
}
