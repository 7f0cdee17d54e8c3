import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { formatUser } from '../protocol/contact.js'
import type { MfaService } from '../protocol/service.js'
import type { testInbox } from './inbox.js'
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

const BACKUP_CODES = 10
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * An MFA service in this process: small enough to read, and without limits of its own, so that a test sees what the
 * plugin does. Codes count once, for their own challenge; an app's code once, backup codes once each.
 */
export function testService(inbox: ReturnType<typeof testInbox>) {
  const challenges = new Map<string, { readonly user: string; readonly code: string; spent: boolean }>()
  const apps = new Map<string, KnownApp>()
  const backups = new Map<string, Set<string>>()

  const judgeApp = (user: string, code: string, kind: string): boolean => {
    const app = apps.get(user)
    const secret = kind === 'confirm' ? app?.pending : app?.secret
    if (!app || !secret) return false
    const now = stepAt(Date.now())
    const step = [now, now - 1].find((one) => totpCode(secret, one * 30_000) === code)
    if (step === undefined || step <= app.lastStep) return false
    apps.set(user, kind === 'confirm' ? { secret, lastStep: step } : { ...app, lastStep: step })
    return true
  }

  const service: MfaService = {
    async send({ contact, method, challenge }) {
      const user = formatUser(contact)
      const id = challenge ?? randomUUID()
      const living = challenges.get(id)
      const code = living && !living.spent ? living.code : String(randomInt(1_000_000)).padStart(6, '0')
      challenges.set(id, { user, code, spent: false })
      inbox.put({ to: user, method, code, codes: [code], at: Date.now() })
      return { outcome: 'sent', challenge: id }
    },

    async verify({ contact, method, code, kind, challenge = '' }) {
      const user = formatUser(contact)
      if (kind === 'backup') {
        const codes = backups.get(user)
        return codes?.delete(code) ? { outcome: 'valid', backupCodesLeft: codes.size } : verdict(false)
      }
      if (method === 'app') return verdict(judgeApp(user, code, kind))
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
      backups.set(formatUser(contact), new Set(codes))
      inbox.put({ to: formatUser(contact), method, code: codes[0] ?? '', codes, at: Date.now() })
      return { outcome: 'sent', count: codes.length }
    },

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
