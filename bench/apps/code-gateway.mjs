// A gateway that takes every message at once, in a process of its own: it must answer in time while the users keep theirs busy. It tells
// its parent process what it took.
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

const TELL_EVERY_MS = 50

let taken = []
const server = createServer(async (request, response) => {
  const { to, code } = await json(request)
  taken.push([to, code])
  response.writeHead(204).end()
}).listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))

setInterval(() => {
  if (taken.length === 0) return
  process.send({ taken })
  taken = []
}, TELL_EVERY_MS)
process.once('disconnect', () => process.exit())
