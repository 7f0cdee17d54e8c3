import { SMTPServer } from 'smtp-server'

// A mail server that takes everything, but when it is told to `refuse`, answers the first mail to each twentieth recipient
// with 451. Asked to `count`, it tells its parent how many mails arrived, and how many arrived again.
let refuses = false
const refused = new Set()
const arrived = new Map()
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onRcptTo({ address }, _session, done) {
    const isRefused = refuses && Number(/\d+/.exec(address)) % 20 === 0 && !refused.has(address)
    if (!isRefused) return done()
    refused.add(address)
    done(Object.assign(new Error('4.3.0 try again later'), { responseCode: 451 }))
  },
  onData(stream, session, done) {
    stream.resume()
    stream.on('end', () => {
      const { address } = session.envelope.rcptTo[0]
      arrived.set(address, (arrived.get(address) ?? 0) + 1)
      done()
    })
  },
})
server.on('error', () => {})
server.listen(0, '127.0.0.1', () => process.send({ port: server.server.address().port }))
process.on('message', ({ question, value }) => {
  if (question === 'refuse') {
    refuses = value
    return
  }
  const doubled = [...arrived.values()].filter((times) => times > 1).length
  process.send({ arrived: arrived.size, doubled, refused: refused.size })
  arrived.clear()
  refused.clear()
})
