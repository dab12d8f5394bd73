/*
 * Signing beside the thread that decides. An ES256 signature takes about 50 µs of a processor. Node's own pool takes it
 * off this thread, and still costs it 13 to 22 µs for each; a message that asks for many costs 4 to 6 µs for each (two
 * cores). So what is wanted while others are being signed goes together:
 *
 *   wanted now   ──┐
 *   wanted ahead ──┴──▶ at most 32 a message, two messages a thread ──▶ signatures, in the order they were asked for
 *
 * What a commit waits for passes what is signed ahead. What a thread could not sign is signed here: the worst that the
 * end of a thread can do is to make signing slower.
 */
import type { KeyObject } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Claims } from './claims'
import { algorithmOf, claimsInput, type SigningKey, signInput } from './sign'

const inputsPerMessage = 32
/** One is signed while the next is on its way. */
const messagesPerThread = 2
const mostThreads = 4

/** Runs in each thread. The key comes with the first message, and whenever it is another one. */
const script = `
const { parentPort } = require('node:worker_threads')
const { sign } = require('node:crypto')
let key, algorithm
parentPort.on('message', (message) => {
  if (message.key) ({ key, algorithm } = message)
  const options = { key, dsaEncoding: 'ieee-p1363' }
  try {
    parentPort.postMessage(
      message.inputs.map((input) => sign(algorithm, Buffer.from(input, 'latin1'), options).toString('base64url')),
    )
  } catch {
    parentPort.postMessage(undefined)
  }
})
`

interface Message {
  inputs: string[]
  key?: KeyObject
  algorithm?: 'sha256' | null
}

interface Wanted {
  input: string
  key: SigningKey
  resolve(token: string): void
  reject(error: unknown): void
}

interface Thread {
  worker: Worker
  /** The key it was given last. */
  key?: SigningKey
  /** Messages it has not answered, the oldest first. */
  underWay: Wanted[][]
}

/** Threads that sign; started when there is something for them, and stopped with `close`. */
export class SigningThreads {
  private readonly threads: Thread[] = []
  private readonly now: Wanted[] = []
  private readonly ahead: Wanted[] = []
  private planned: 'now' | 'soon' | undefined
  private isOver = false

  constructor(
    private readonly most = Math.max(1, Math.min(mostThreads, availableParallelism() - 1)),
    private readonly threadScript = script,
  ) {}

  /** As `signClaims`, and throws as that does. `ahead`: nobody waits for it yet. */
  async sign(claims: Claims, key: SigningKey, ahead = false): Promise<string> {
    const input = claimsInput(claims, key)
    algorithmOf(key)
    return new Promise((resolve, reject) => {
      const queue = ahead ? this.ahead : this.now
      queue.push({ input, key, resolve, reject })
      this.plan(ahead ? 'soon' : 'now')
    })
  }

  /** Stops the threads. What is wanted from now on, or was not signed yet, is signed here. */
  async close(): Promise<void> {
    this.isOver = true
    await Promise.all(this.threads.splice(0).map((thread) => this.give(thread).worker.terminate()))
    this.send()
  }

  /** What is wanted in one go is sent in one message; what is wanted ahead, in one turn of the event loop. */
  private plan(when: 'now' | 'soon'): void {
    if (this.planned === when || this.planned === 'now') return
    this.planned = when
    const begin = when === 'now' ? queueMicrotask : setImmediate
    begin(() => this.send())
  }

  private send(): void {
    this.planned = undefined
    for (let thread = this.free(); thread; thread = this.free()) this.post(thread, this.take())
    if (this.isOver) while (this.waiting > 0) signHere(this.take())
  }

  private get waiting(): number {
    return this.now.length + this.ahead.length
  }

  /** The thread that has least to do, if there is something for it and it has room. */
  private free(): Thread | undefined {
    if (this.waiting === 0 || this.isOver) return undefined
    const idle = this.threads.find(({ underWay }) => underWay.length === 0)
    if (idle) return idle
    if (this.threads.length < this.most) return this.start()
    return this.threads.find(({ underWay }) => underWay.length < messagesPerThread)
  }

  /** Takes what goes into one message: of one key, what a commit waits for first. */
  private take(): Wanted[] {
    const queue = this.now.length > 0 ? this.now : this.ahead
    const other = queue.findIndex(({ key }) => key !== queue[0]?.key)
    return queue.splice(0, Math.min(inputsPerMessage, other < 0 ? queue.length : other))
  }

  private post(thread: Thread, wanted: Wanted[]): void {
    const key = wanted[0]?.key as SigningKey
    const message: Message = { inputs: wanted.map(({ input }) => input) }
    if (thread.key !== key) {
      thread.key = key
      message.key = key.privateKey
      message.algorithm = algorithmOf(key)
    }
    if (thread.underWay.length === 0) thread.worker.ref()
    thread.underWay.push(wanted)
    thread.worker.postMessage(message)
  }

  private start(): Thread {
    const thread: Thread = { worker: new Worker(this.threadScript, { eval: true }), underWay: [] }
    thread.worker.on('message', (signatures?: string[]) => this.answered(thread, signatures))
    // It says why before its exit; that it is gone is all that counts here. One that cannot live is not started again.
    thread.worker.on('error', () => undefined)
    thread.worker.on('exit', () => {
      this.isOver = true
      this.give(thread)
      this.send()
    })
    thread.worker.unref()
    this.threads.push(thread)
    return thread
  }

  private answered(thread: Thread, signatures: string[] | undefined): void {
    const wanted = thread.underWay.shift() ?? []
    if (thread.underWay.length === 0) thread.worker.unref()
    this.send()
    if (!signatures) return signHere(wanted)
    for (const [at, { input, resolve }] of wanted.entries()) resolve(`${input}.${signatures[at]}`)
  }

  /** Gives up what a thread has under way: it is signed here. */
  private give(thread: Thread): Thread {
    for (const wanted of thread.underWay.splice(0)) signHere(wanted)
    return thread
  }
}

function signHere(wanted: readonly Wanted[]): void {
  for (const { input, key, resolve, reject } of wanted) {
    try {
      resolve(signInput(input, key))
    } catch (error) {
      reject(error)
    }
  }
}
