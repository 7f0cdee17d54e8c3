import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto'
import { ServiceError } from '../errors.js'
import { findTransaction } from '../protocol/approval-challenge.js'
import { formatUser } from '../protocol/contact.js'
import { mapVerbs } from '../protocol/map-verbs.js'
import { KEY_METHODS } from '../protocol/methods.js'
import type { AnswerOf, CompleteMfaService, MfaService } from '../protocol/service.js'
import type { Refused } from '../protocol/service-refusal.js'
import { COUNTERSIGN_CODES } from '../protocol/wire.js'
import type { testCarrier } from './carrier.js'
import type { testKeys } from './key-service.js'

/** The verbs of the service of the test kit. */
export type TestService = CompleteMfaService & Required<Pick<MfaService, 'deliveryOf' | 'factorsOf'>>

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

/** An MFA service in this process, without limits of its own. Each code is accepted once, and for its challenge. */
export function testService(
  carrier: Pick<ReturnType<typeof testCarrier>, 'accept' | 'stateOf'>,
  keys?: ReturnType<typeof testKeys>,
) {
  const challenges = new Map<string, { readonly of: string; readonly code: string; used: boolean }>()
  const apps = new Map<string, EnrolledApp>()
  const backupCodes = new Map<string, BackupCodes>()

  const verifyAppCode = (user: string, code: string, kind: string): AnswerOf<'verify'> => {
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
    async send({ contact, method, challenge, transaction, approval }) {
      const user = formatUser(contact)
      const id = challenge ?? randomUUID()
      const existing = challenges.get(id)
      const code = existing && !existing.used ? existing.code : String(randomInt(1_000_000)).padStart(6, '0')
      const message = { to: user, method, code, codes: [code], at: Date.now() }
      const status = carrier.accept({ ...message, ...(approval && { approves: approval.lines }) }, id)
      if (status === 'refused') return REFUSED
      challenges.set(id, { of: `${user} ${findTransaction({ transaction, approval })}`, code, used: false })
      return { outcome: status, challenge: id }
    },

    async verify({ contact, method, code, kind, challenge = '', transaction, approval }) {
      const user = formatUser(contact)
      if (kind === 'backup') {
        const set = backupCodes.get(user)
        if (!set?.codes.delete(code)) return verification(false)
        return { outcome: 'valid', kind, backupCodesLeft: set.codes.size, ...describeDelivery(set) }
      }
      if (method === 'app') return verifyAppCode(user, code, kind)
      const sent = challenges.get(challenge)
      const isFor = sent?.of === `${user} ${findTransaction({ transaction, approval })}`
      const isCorrect = isFor && sent?.code === code && !sent.used
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

    // Each app of the kit has six digits, under whatever contact the host lists it.
    codes: { ...COUNTERSIGN_CODES, app: { ...COUNTERSIGN_CODES.app, longest: 6 } },

    async factorsOf({ contact }) {
      const user = formatUser(contact)
      const set = backupCodes.get(user)
      return {
        existing: [
          ...(apps.get(user)?.secret ? [{ method: 'app', usable: true, digits: 6 } as const] : []),
          ...(keys?.methodsOf(user) ?? []).map((method) => ({ method, usable: true })),
        ],
        ...(keys && { offeredKeys: KEY_METHODS }),
        backupCodesLeft: set?.codes.size ?? 0,
        ...(set && describeDelivery(set)),
      }
    },

    deliveryOf: async ({ challenge }) => carrier.stateOf(challenge),

    approvals: true,

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

function describeDelivery({ isShown }: BackupCodes): { readonly backupDelivery?: 'page' } {
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

/** `late`: handled, but too late. `doubled`: received twice, as by a retry. `wrong`: the response is invalid. */
export type TestFailure = 'down' | 'late' | 'doubled' | 'wrong'

const TEST_VERBS = [
  'send',
  'verify',
  'enrollApp',
  'sendBackupCodes',
  'registrationOptions',
  'register',
  'authenticationOptions',
  'authenticate',
] as const

/** A method of the service. */
export type TestVerb = (typeof TEST_VERBS)[number]

/** Selects the calls that fail. */
export interface FailureOptions {
  /** How many calls fail. Defaults to 1; with `Infinity` they fail until `recover()`. */
  readonly times?: number | undefined
  /** Only calls of this method fail. Defaults to all methods. */
  readonly verb?: TestVerb | undefined
}

const ERRORS = {
  down: ['ERR_MFA_SERVICE_UNAVAILABLE', 'Simulated failure: the MFA service of the test kit is down.'],
  late: ['ERR_MFA_SERVICE_TIMEOUT', 'Simulated failure: the MFA service of the test kit responded too late.'],
  wrong: [
    'ERR_MFA_SERVICE_ANSWER',
    'Simulated failure: the MFA service of the test kit sent an invalid response.',
  ],
} as const

/** Wraps the service so that a test can make its calls fail. */
export function addFailures(service: TestService) {
  const plans: { readonly how: TestFailure; readonly verb: TestVerb | undefined; left: number }[] = []

  const takeFailure = (verb: TestVerb): TestFailure | undefined => {
    const plan = plans.find(
      (candidate) => candidate.left > 0 && (candidate.verb === undefined || candidate.verb === verb),
    )
    if (plan) plan.left--
    return plan?.how
  }
  const call = async <Answer>(verb: TestVerb, work: () => Promise<Answer>): Promise<Answer> => {
    const how = takeFailure(verb)
    if (how === 'late' || how === 'doubled') await work()
    if (how === undefined || how === 'doubled') return work()
    const [code, message] = ERRORS[how]
    throw new ServiceError(code, message)
  }

  // An app under test has its backup codes sent, so that the test finds them in its inbox.
  const { createBackupCodes: _shown, ...offered } = service
  const failing = mapVerbs(offered, (name, _verb, work) => {
    const verb = TEST_VERBS.find((candidate) => name === candidate || name === `keys.${candidate}`)
    return (request) => (verb ? call(verb, () => work(request)) : work(request))
  })
  const wrapped = { ...offered, ...failing }
  return {
    service: wrapped,
    fail(how: TestFailure, { times = 1, verb }: FailureOptions = {}) {
      plans.push({ how, verb, left: times })
    },
    recover: () => void plans.splice(0),
  }
}

/** How long an authenticator app shows a code, in milliseconds. */
export const STEP_MS = 30_000
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The 30-second time step of a time in milliseconds since 1970. */
export function stepAt(ms: number): number {
  return Math.floor(ms / STEP_MS)
}

/** The code of an app with this base32 secret at the time `at`: six digits, SHA-1, 30 seconds (RFC 6238). */
export function totpCode(secret: string, at = Date.now()): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(stepAt(at)))
  const mac = createHmac('sha1', base32Decode(secret)).update(counter).digest()
  // RFC 4226 §5.3: the low four bits of the last byte are the offset of the number.
  const offset = mac.readUInt8(mac.length - 1) & 0xf
  const number = (mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000
  return String(number).padStart(6, '0')
}

function base32Encode(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => ALPHABET[Number.parseInt(five, 2)]).join('')
}

function base32Decode(secret: string): Buffer {
  const letters = [...secret.toUpperCase().replaceAll(/[\s=-]/g, '')]
  const bits = letters.map((letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)))
}
