import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { formatUser } from '../protocol/contact.js'
import type { MfaService, Refused, VerifyAnswer } from '../protocol/service.js'
import type { testCarrier } from './carrier.js'
import { encode, stepAt, totpCode } from './totp.js'

/** An authenticator app that the service knows. */
interface KnownApp {
  secret: string
  /** Waits for its first code. */
  pending?: string
  /** The step of the last code that counted: a code counts once. */
  lastStep: number
}

/** The smallest PNG: it stands for a QR code, which nobody scans in a test. */
const PICTURE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='

/** An app's code tells of a slow clock for as many steps of 30 seconds. */
const SLOW_STEPS = 20

const REFUSED: Refused = { outcome: 'refused', refusal: { reason: 'delivery_failed' } }

const BACKUP_CODES = 10
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * An MFA service in this process: small enough to read, and without limits of its own, so that a test sees what the
 * plugin does. Codes count once, for their own challenge; an app's code once, backup codes once each. It tells how its
 * messages stand, and when an app's clock is slow.
 */
export function testService(carrier: Pick<ReturnType<typeof testCarrier>, 'take' | 'stateOf'>) {
  const challenges = new Map<string, { readonly user: string; readonly code: string; spent: boolean }>()
  const apps = new Map<string, KnownApp>()
  const backups = new Map<string, Set<string>>()

  const judgeApp = (user: string, code: string, kind: string): VerifyAnswer => {
    const app = apps.get(user)
    const secret = kind === 'confirm' ? app?.pending : app?.secret
    if (!app || !secret) return verdict(false)
    const now = stepAt(Date.now())
    const steps = Array.from({ length: SLOW_STEPS + 1 }, (_, age) => now - age)
    const step = steps.find((one) => totpCode(secret, one * 30_000) === code)
    if (step === undefined || step <= app.lastStep) return verdict(false)
    if (step < now - 1) return { outcome: 'invalid', clockSteps: step - now }
    apps.set(user, kind === 'confirm' ? { secret, lastStep: step } : { ...app, lastStep: step })
    return verdict(true)
  }

  const service: MfaService & Required<Pick<MfaService, 'deliveryOf'>> = {
    async send({ contact, method, challenge }) {
      const user = formatUser(contact)
      const id = challenge ?? randomUUID()
      const living = challenges.get(id)
      const code = living && !living.spent ? living.code : String(randomInt(1_000_000)).padStart(6, '0')
      const status = carrier.take({ to: user, method, code, codes: [code], at: Date.now() }, id)
      if (status === 'refused') return REFUSED
      challenges.set(id, { user, code, spent: false })
      return { outcome: status, challenge: id }
    },

    async verify({ contact, method, code, kind, challenge = '' }) {
      const user = formatUser(contact)
      if (kind === 'backup') {
        const codes = backups.get(user)
        return codes?.delete(code) ? { outcome: 'valid', backupCodesLeft: codes.size } : verdict(false)
      }
      if (method === 'app') return judgeApp(user, code, kind)
      const asked = challenges.get(challenge)
      const isRight = asked?.user === user && asked.code === code && !asked.spent
      if (isRight) asked.spent = true
      return verdict(isRight)
    },

    async enrollApp({ contact }) {
      const user = formatUser(contact)
      const pending = newSecret()
      apps.set(user, { secret: '', lastStep: 0, ...apps.get(user), pending })
      const uri = `otpauth://totp/Test:${encodeURIComponent(user)}?secret=${pending}&issuer=Test`
      return { outcome: 'prepared', qr: PICTURE, uri, secret: pending }
    },

    async sendBackupCodes({ contact, method }) {
      const codes = Array.from({ length: BACKUP_CODES }, newBackupCode)
      const to = formatUser(contact)
      const status = carrier.take({ to, method, code: codes[0] ?? '', codes, at: Date.now() })
      if (status === 'refused') return REFUSED
      backups.set(to, new Set(codes))
      return { outcome: status, count: codes.length }
    },

    deliveryOf: async ({ challenge }) => carrier.stateOf(challenge),

    async transcribe() {
      return { outcome: 'refused', refusal: { reason: 'transcription_unavailable' } }
    },
  }

  return {
    service,
    apps,
    /** Gives somebody an app that is confirmed already; its secret. */
    enrol(user: string): string {
      const secret = newSecret()
      apps.set(user, { secret, lastStep: 0 })
      return secret
    },
    forget() {
      for (const known of [challenges, apps, backups]) known.clear()
    },
  }
}

function verdict(isRight: boolean) {
  return { outcome: isRight ? 'valid' : 'invalid' } as const
}

function newSecret(): string {
  return encode(randomBytes(20))
}

function newBackupCode(): string {
  return Array.from({ length: 16 }, () => CROCKFORD[randomInt(CROCKFORD.length)]).join('')
}
