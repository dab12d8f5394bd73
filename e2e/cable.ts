import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A cable between a browser and the console that can be pulled out and put back. */
export class Cable {
  readonly #sockets = new Set<Socket>()
  readonly #to: number
  #server: Server | undefined
  #isCut = false

  /** `origin`: of the console. */
  constructor(origin: string) {
    this.#to = Number(new URL(origin).port)
  }

  /** What the browser is to open instead. */
  get origin(): string {
    const address = this.#server?.address() as AddressInfo | undefined
    return `http://localhost:${address?.port ?? 0}`
  }

  async plugIn(): Promise<void> {
    const server = createServer((near) => {
      if (this.#isCut) return near.destroy()
      const far = connect(this.#to, '127.0.0.1')
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => other.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
        socket.pipe(other)
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    this.#server = server
  }

  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isCut = false
  }

  async remove(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.#server?.close(resolve))
  }
}
