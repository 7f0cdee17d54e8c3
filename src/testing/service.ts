import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { formatUser } from '../protocol/contact.js'
import { KEY_METHODS } from '../protocol/methods.js'
import type { CompleteMfaService, MfaService, VerifyAnswer } from '../protocol/service.js'
import type { Refused } from '../protocol/service-refusal.js'
import type { TranscriptionService } from '../protocol/transcription.js'
import { COUNTERSIGN_CODES } from '../protocol/wire.js'
import type { testCarrier } from './carrier.js'
import type { testKeys } from './key-service.js'
import { base32Encode, stepAt, totpCode } from './totp.js'

/** The verbs of the service of the test kit. */
export type TestService = CompleteMfaService &
  Required<Pick<MfaService, 'deliveryOf' | 'factorsOf'>> &
  Pick<TranscriptionService, 'transcribe'>

/** An enrolled authenticator app. */
interface EnrolledApp {
  secret: string
  /** A new secret that has not been confirmed by its first code. */
  pendingSecret?: string
  /** The time step of the last accepted code; each code is accepted once. */
  lastStep: number
}

/** The backup codes of a user. */
interface BackupCodes {
  readonly codes: Set<string>
  /** Whether they were shown on a page, and sent to no contact. */
  readonly isShown: boolean
}

// The smallest PNG. No test scans it.
const QR_IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='

/** How many time steps a code may be old to be reported as coming from a slow clock. */
const MAX_SLOW_STEPS = 20

const REFUSED: Refused = { outcome: 'refused', refusal: { reason: 'delivery_failed' } }

const BACKUP_CODES = 10
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * An MFA service in this process. It has no limits of its own, so that a test sees those of the plugin. Each code is
 * accepted once, and a delivered code only for its own challenge. It reports the delivery state of its messages, and
 * when an app's clock is slow.
 */
export function testService(
  carrier: Pick<ReturnType<typeof testCarrier>, 'accept' | 'stateOf'>,
  keys?: ReturnType<typeof testKeys>,
) {
  const challenges = new Map<string, { readonly user: string; readonly code: string; used: boolean }>()
  const apps = new Map<string, EnrolledApp>()
  const backupCodes = new Map<string, BackupCodes>()

  const verifyAppCode = (user: string, code: string, kind: string): VerifyAnswer => {
    const app = apps.get(user)
    const secret = kind === 'confirm' ? app?.pendingSecret : app?.secret
    if (!app || !secret) return verification(false)
    const now = stepAt(Date.now())
    const steps = Array.from({ length: MAX_SLOW_STEPS + 1 }, (_, age) => now - age)
    const step = steps.find((candidate) => totpCode(secret, candidate * 30_000) === code)
    if (step === undefined || step <= app.lastStep) return verification(false)
    if (step < now - 1) return { outcome: 'invalid', clockSteps: step - now }
    apps.set(user, kind === 'confirm' ? { secret, lastStep: step } : { ...app, lastStep: step })
    return verification(true)
  }

  const service: TestService = {
    async send({ contact, method, challenge }) {
      const user = formatUser(contact)
      const id = challenge ?? randomUUID()
      const existing = challenges.get(id)
      const code = existing && !existing.used ? existing.code : String(randomInt(1_000_000)).padStart(6, '0')
      const status = carrier.accept({ to: user, method, code, codes: [code], at: Date.now() }, id)
      if (status === 'refused') return REFUSED
      challenges.set(id, { user, code, used: false })
      return { outcome: status, challenge: id }
    },

    async verify({ contact, method, code, kind, challenge = '' }) {
      const user = formatUser(contact)
      if (kind === 'backup') {
        const set = backupCodes.get(user)
        if (!set?.codes.delete(code)) return verification(false)
        return { outcome: 'valid', kind, backupCodesLeft: set.codes.size, ...deliveryOf(set) }
      }
      if (method === 'app') return verifyAppCode(user, code, kind)
      const sent = challenges.get(challenge)
      const isCorrect = sent?.user === user && sent.code === code && !sent.used
      if (isCorrect) sent.used = true
      return verification(isCorrect)
    },

    async enrollApp({ contact }) {
      const user = formatUser(contact)
      const pendingSecret = newSecret()
      apps.set(user, { secret: '', lastStep: 0, ...apps.get(user), pendingSecret })
      // Without an issuer: the service has no name that could differ from `appName`.
      const uri = `otpauth://totp/${encodeURIComponent(user)}?secret=${pendingSecret}`
      return { outcome: 'prepared', qr: QR_IMAGE, uri, secret: pendingSecret }
    },

    async sendBackupCodes({ contact, method }) {
      const codes = Array.from({ length: BACKUP_CODES }, newBackupCode)
      const to = formatUser(contact)
      const status = carrier.accept({ to, method, code: codes[0] ?? '', codes, at: Date.now() })
      if (status === 'refused') return REFUSED
      backupCodes.set(to, { codes: new Set(codes), isShown: false })
      return { outcome: status, count: codes.length }
    },

    async createBackupCodes({ contact }) {
      const codes = Array.from({ length: BACKUP_CODES }, newBackupCode)
      backupCodes.set(formatUser(contact), { codes: new Set(codes), isShown: true })
      return { outcome: 'created', codes: codes.map((code) => code.replace(/(?<=^(?:.{4})+)(?=.)/g, '-')) }
    },

    async removeFactor({ contact, factor }) {
      const user = formatUser(contact)
      const hadFactor = factor === 'app' ? apps.delete(user) : backupCodes.delete(user)
      return { outcome: hadFactor ? 'removed' : 'none' }
    },

    codes: COUNTERSIGN_CODES,

    async factorsOf({ contact }) {
      const user = formatUser(contact)
      const set = backupCodes.get(user)
      return {
        existing: [
          ...(apps.get(user)?.secret ? [{ method: 'app', usable: true } as const] : []),
          ...(keys?.methodsOf(user) ?? []).map((method) => ({ method, usable: true })),
        ],
        ...(keys && { offeredKeys: KEY_METHODS }),
        backupCodesLeft: set?.codes.size ?? 0,
        ...(set && deliveryOf(set)),
      }
    },

    deliveryOf: async ({ challenge }) => carrier.stateOf(challenge),

    async transcribe() {
      return { outcome: 'refused', refusal: { reason: 'transcription_unavailable' } }
    },

    ...(keys && { keys: keys.verbs }),
  }

  return {
    service,
    apps,
    /** Gives a user a confirmed authenticator app and returns its secret. */
    enroll(user: string): string {
      const secret = newSecret()
      apps.set(user, { secret, lastStep: 0 })
      return secret
    },
    reset() {
      for (const records of [challenges, apps, backupCodes]) records.clear()
      keys?.reset()
    },
  }
}

function deliveryOf({ isShown }: BackupCodes): { readonly backupDelivery?: 'page' } {
  return isShown ? { backupDelivery: 'page' } : {}
}

function verification(isCorrect: boolean) {
  return { outcome: isCorrect ? 'valid' : 'invalid' } as const
}

function newSecret(): string {
  return base32Encode(randomBytes(20))
}

function newBackupCode(): string {
  return Array.from({ length: 16 }, () => CROCKFORD[randomInt(CROCKFORD.length)]).join('')
}
