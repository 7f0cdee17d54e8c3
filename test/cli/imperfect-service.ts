import { randomBytes, randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { PNG } from 'pngjs'
import encodeQr from 'qr'
import { onTestFinished } from 'vitest'
import { totp } from '../contract/totp.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { temporaryFolder } from '../kit/temporary-folder.js'

export const API_KEY = 'k-1'
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_MS = 30_000

/** The mistakes that a service can make. */
export type Defect =
  | 'accepts a wrong code'
  | 'accepts a code twice'
  | 'accepts a code twice at once'
  | 'accepts a code of another user'
  | 'accepts a code for any type'
  | 'accepts a code of an unknown user'
  | 'accepts an old code'
  | 'accepts a code with more digits'
  | 'has no limit of attempts'
  | 'does not say how long to wait'
  | 'answers 200 with an HTML error'
  | 'answers JSON as HTML'
  | 'answers text without a content type'
  | 'answers 400 to a wrong code'
  | 'has one secret for all'
  | 'has short secrets'
  | 'checks no key at verify'
  | 'takes a missing user for a refused key'
  | 'shows the code'
  | 'accepts a delivered code twice'
  | 'rewrites backup codes'
  | 'accepts a backup code twice'

/** How the service differs from the published interface without a fault. */
interface Variant {
  readonly enrollPath?: string
  readonly contentType?: 'json'
}

interface App {
  readonly secret: string
  lastStep: number
  wrong: number
}

/** A service with the published interface that gives QR codes as pictures only, and has one defect. Ends with the test. */
export async function imperfectService(
  defect?: Defect,
  { enrollPath = '/v1/mfa/app', contentType }: Variant = {},
) {
  const has = (one: Defect) => defect === one
  const { path: folder, remove } = temporaryFolder()
  const apps = new Map<string, App>()
  const codes = new Map<string, string>()
  const backupCodes = new Map<string, string>()
  const shared = secretOf(32)
  let sent = 0

  const deliver = (user: string, text: string) => {
    sent += 1
    writeFileSync(join(folder, user), text)
  }

  const isRightForApp = async (user: string, typed: string): Promise<boolean> => {
    const app = apps.get(user)
    if (!app) return has('accepts a code of an unknown user')
    if (has('accepts a wrong code')) return true
    const code = has('accepts a code with more digits') ? typed.slice(0, 6) : typed
    if (
      has('accepts a code of another user') &&
      [...apps.values()].some(({ secret }) => totp(secret, Date.now()) === code)
    ) {
      return true
    }
    const now = Math.floor(Date.now() / STEP_MS)
    const steps = has('accepts an old code') ? [now - 20, now - 1, now] : [now - 1, now]
    const step = steps.find((one) => totp(app.secret, one * STEP_MS) === code)
    if (step === undefined) return false
    if (step <= app.lastStep && !has('accepts a code twice') && !has('accepts an old code')) return false
    if (has('accepts a code twice at once')) await new Promise((resolve) => setTimeout(resolve, 20))
    app.lastStep = Math.max(step, app.lastStep)
    return true
  }

  const verify = async (form: URLSearchParams) => {
    const [user = '', type = '', code = ''] = ['User', 'Type', 'Code'].map((name) => form.get(name) ?? '')
    const app = apps.get(user)
    if (app && app.wrong >= 10 && !has('has no limit of attempts')) return 'locked'
    if (type === 'APP' || has('accepts a code for any type')) {
      if (await isRightForApp(user, code)) return 'valid'
      if (app) app.wrong += 1
    }
    if (codes.get(user) === code) {
      if (!has('accepts a delivered code twice')) codes.delete(user)
      return 'valid'
    }
    if (backupCodes.get(user) === code) {
      if (!has('accepts a backup code twice')) backupCodes.delete(user)
      return 'valid'
    }
    return 'invalid'
  }

  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    const form = await formIn(request, contentType)
    const answer = (status: number, body: unknown = '', type = 'application/json') => {
      if (type !== '') response.setHeader('content-type', type)
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
    }
    const isOpen = path === '/v1/mfa/verify' && has('checks no key at verify')
    if (!isOpen && request.headers.authorization !== `Bearer ${API_KEY}`) return answer(401)
    if (form === undefined) return answer(415)
    const user = form.get('User') ?? ''
    if (path === '/v1/mfa/verify') {
      const verdict = await verify(form)
      if (verdict === 'locked') {
        if (!has('does not say how long to wait')) response.setHeader('retry-after', '900')
        return answer(429)
      }
      if (verdict === 'valid') {
        if (has('answers text without a content type')) return answer(200, 'OK', '')
        return answer(200, { valid: true }, has('answers JSON as HTML') ? 'text/plain' : undefined)
      }
      if (has('answers 200 with an HTML error')) return answer(200, '<h1>Wrong code</h1>', 'text/html')
      return answer(has('answers 400 to a wrong code') ? 400 : 401)
    }
    if (user === '')
      return answer(path === '/v1/mfa' && has('takes a missing user for a refused key') ? 401 : 400)
    if (path === enrollPath) {
      const secret = has('has one secret for all') ? shared : secretOf(has('has short secrets') ? 16 : 32)
      apps.set(user, { secret, lastStep: 0, wrong: 0 })
      return answer(200, { image: qrPicture(`otpauth://totp/Shop:${user}?secret=${secret}&issuer=Shop`) })
    }
    if (path === '/v1/mfa') {
      const code = String(randomInt(100_000, 1_000_000))
      codes.set(user, code)
      deliver(user, `Your code is ${code}.`)
      return answer(200, has('shows the code') ? { code } : { status: 'sent' })
    }
    if (path === '/v1/mfa/backup') {
      backupCodes.set(user, has('rewrites backup codes') ? 'A1B2C3D4' : 'a1b2c3d4')
      deliver(user, 'Your backup codes:\na1b2c3d4\n')
      return answer(200)
    }
    answer(404)
  })
  const baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
    remove()
  })
  return {
    baseUrl,
    /** Prints the newest message to the mailbox in `MFA_TO`. */
    command: `cat '${folder}'/"$MFA_TO"`,
    sent: () => sent,
  }
}

async function formIn(request: AsyncIterable<unknown>, contentType: 'json' | undefined) {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  if (text.startsWith('{') !== (contentType === 'json')) return undefined
  return new URLSearchParams(contentType === 'json' ? JSON.parse(text) : text)
}

function secretOf(letters: number): string {
  return [...randomBytes(letters)].map((byte) => ALPHABET[byte % 32]).join('')
}

/** A PNG in base64, as the published interface gives it. */
function qrPicture(text: string): string {
  const rows = encodeQr(text, 'raw')
  const scale = 4
  const size = rows.length * scale
  const png = new PNG({ width: size, height: size })
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const isDark = rows[Math.floor(y / scale)]?.[Math.floor(x / scale)]
      png.data.fill(isDark ? 0 : 255, (y * size + x) * 4, (y * size + x) * 4 + 3)
      png.data[(y * size + x) * 4 + 3] = 255
    }
  }
  return PNG.sync.write(png).toString('base64')
}
