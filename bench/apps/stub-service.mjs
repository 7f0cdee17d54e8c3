import { randomUUID } from 'node:crypto'
import { serve } from '../kit/serve.mjs'

// An MFA service that answers at once, so that what is measured is the app in front of it: 123456 is every right code. Users whose
// email address begins with g or n have no factor, all others an authenticator app. It can be told to stop answering, and tells
// how many calls and connections it has had.
const RIGHT_CODE = '123456'
const counted = { send: 0, verify: 0, factors: 0, connections: 0, mostConnections: 0 }
const seen = new WeakSet()
let isHanging = false

const answerJson = (res, status, body) => {
  const text = JSON.stringify(body)
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  res.end(text)
}

function count(socket) {
  if (seen.has(socket)) return
  seen.add(socket)
  counted.connections++
  counted.mostConnections = Math.max(counted.mostConnections, counted.connections)
  socket.once('close', () => counted.connections--)
}

serve(
  async () => (req, res) => {
    count(req.socket)
    let body = ''
    req.setEncoding('utf8')
    req.on('data', (chunk) => {
      body += chunk
    })
    req.on('end', () => {
      if (req.url === '/v1/mfa/factors') counted.factors++
      if (req.url === '/v1/mfa/factors' && !isHanging) {
        const account = new URLSearchParams(body).get('Account') ?? ''
        return answerJson(res, 200, {
          existing: /^[gn]/.test(account) ? [] : [{ type: 'APP', usable: true, digits: 6 }],
          offered_keys: [],
          backup_codes_left: 10,
        })
      }
      const isVerify = req.url === '/v1/mfa/verify'
      counted[isVerify ? 'verify' : 'send']++
      if (isHanging) return
      if (!isVerify) {
        return answerJson(res, 200, {
          status: 'sent',
          challenge: randomUUID(),
          type: 'SMS',
          expires_in: 300,
          resend_in: 30,
        })
      }
      const isRight = new URLSearchParams(body).get('Code') === RIGHT_CODE
      answerJson(res, isRight ? 200 : 401, isRight ? { valid: true } : { code: 'invalid_code', status: 401 })
    })
  },
  {
    counted: () => counted,
    hang: (value) => {
      isHanging = value
    },
  },
)
