import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import express from 'express'
import { expect, it } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { withUpload } from '../src/http/upload.js'

const BEGINNING = [
  'POST / HTTP/1.1',
  'Host: x',
  'Content-Type: multipart/form-data; boundary=b',
  'Content-Length: 100000',
  '',
  '--b',
  'Content-Disposition: form-data; name="file"; filename="a.mp3"',
  '',
  'a'.repeat(10_000),
].join('\r\n')

/** The uploaded files that this process has open, deleted or not. */
const heldOpen = () =>
  readdirSync('/proc/self/fd')
    .map(locationOf)
    .filter((path) => /vault-.*recording/.test(path))

function locationOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } catch {
    // The descriptor was used to read the list and is closed.
    return ''
  }
}

it.skipIf(!existsSync('/proc/self/fd'))('closes the file of an aborted upload', async () => {
  const app = express()
  const ends: unknown[] = []
  app.post('/', (req, res) => {
    withUpload(req, async () => 'whole')
      .then(
        (end) => ends.push(end),
        (error: unknown) => ends.push(error),
      )
      .finally(() => res.end())
  })
  const server = createServer(app)
  const socket = connect(await listenOnLoopback(server), '127.0.0.1')
  socket.write(BEGINNING)
  await expect.poll(heldOpen).toHaveLength(1)
  socket.destroy()
  await expect.poll(() => ends).toMatchObject([{ code: 'invalid_request' }])
  await expect.poll(heldOpen).toEqual([])
  server.close()
})
