import { execFile } from 'node:child_process'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { missing } from '../../test/kit/debian-packages.js'

const run = promisify(execFile)

/** A recording of "go forward ten meters": 16 kHz, mono, 16 bits. */
export const GO_FORWARD = '/usr/share/pocketsphinx/test/data/goforward.raw'

/** Whether the real engine can be used. In CI it must be there. */
export function hasRealEngine(): boolean {
  return missing('ffmpeg', 'pocketsphinx', 'pocketsphinx-en-us', 'pocketsphinx-testdata') === undefined
}

/** Runs ffmpeg for a test. */
export function ffmpeg(...parameters: string[]): Promise<unknown> {
  return run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...parameters])
}

/** The recording of `GO_FORWARD` in another format. */
export async function goForwardAs(format: string, folder: string): Promise<string> {
  const path = join(folder, `go forward "ten".${format}`)
  await ffmpeg('-f', 's16le', '-ar', '16000', '-ac', '1', '-i', GO_FORWARD, path)
  return path
}

/** Listens on every address of this machine and counts all connections. */
export async function countingTarget() {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
