import { randomBytes } from 'node:crypto'
import { PNG } from 'pngjs'
import decodeQr from 'qr/decode.js'
import type { HttpService } from '../../client/service.js'
import type { Contact } from '../../protocol/contact.js'
import type { CodeKind, DeliveredMethod } from '../../protocol/methods.js'
import type { AnswerOf } from '../../protocol/service.js'
import { STEP_MS, totpCode } from '../../testing/service.js'

/** A throw-away user whose authenticator app the service has prepared. */
export interface AppUser {
  readonly contact: Contact
  readonly secret: string
  /** The code that the app shows, this many steps of 30 seconds from now. */
  code(steps?: number): string
  /** Whether the service accepts a code. The first one confirms the app. */
  accepts(code: string, method?: 'app' | DeliveredMethod): Promise<boolean>
}

/** A mailbox that does not exist, so that nothing that the service sends there reaches anyone. */
export function throwAwayContact(): Extract<Contact, { kind: 'email' }> {
  return { kind: 'email', email: `countersign-${randomBytes(8).toString('hex')}@contract.invalid` }
}

/**
 * Has the service prepare an authenticator app for a new user.
 * @throws {Error} when the secret cannot be read from the answer.
 */
export async function enrollUser(service: HttpService): Promise<AppUser> {
  const contact = throwAwayContact()
  const prepared = await service.enrollApp({ contact })
  if (prepared.outcome === 'refused') throw new Error(`no app can be set up: ${prepared.refusal.reason}`)
  const secret = readSecret(prepared)
  let kind: CodeKind = 'confirm'
  return {
    contact,
    secret,
    code: (steps = 0) => totpCode(secret, Date.now() + steps * STEP_MS),
    async accepts(code, method = 'app') {
      const { outcome } = await service.verify({ method, contact, code, kind })
      if (outcome === 'valid') kind = 'code'
      return outcome === 'valid'
    },
  }
}

/** Waits until the app shows its next code. */
export function nextStep(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, STEP_MS - (Date.now() % STEP_MS) + 1_000))
}

/** The secret of the app, which the published API gives as a picture. */
function readSecret({ qr, uri, secret }: Exclude<AnswerOf<'enrollApp'>, { outcome: 'refused' }>): string {
  if (secret !== undefined && uri === undefined) return secret
  const address = uri ?? readQrCode(qr)
  const parameters = URL.canParse(address) ? new URL(address).searchParams : undefined
  const isUsual = (name: string, usual: string) => (parameters?.get(name) ?? usual).toUpperCase() === usual
  if (isUsual('algorithm', 'SHA1') && isUsual('digits', '6') && isUsual('period', '30')) {
    const found = parameters?.get('secret')
    if (found) return found
  }
  throw new Error('the QR code is not that of an authenticator app with SHA-1, six digits and 30 seconds')
}

function readQrCode(qr: string): string {
  const [, base64] = /^data:image\/png;base64,(.+)$/.exec(qr) ?? []
  if (base64 === undefined) throw new Error('the QR code is no PNG, and nothing else can be read here')
  return decodeQr(PNG.sync.read(Buffer.from(base64, 'base64')))
}
