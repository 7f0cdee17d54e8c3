import { randomInt, randomUUID } from 'node:crypto'
import {
  formatUser,
  type MfaService,
  type SendRequest,
  ServiceError,
  type VerifyRequest,
} from '../../src/protocol/index.js'
import { signal } from './signal.js'

/** A message that the stand-in has "delivered". */
export interface Delivered {
  readonly to: string
  readonly method: string
  readonly code: string
}

/**
 * An MFA service of the tests' own: small enough to read, with no limits of its own, so that a test sees what the
 * plugin does by itself. It remembers what it was asked and can be made to fail.
 */
export function standInService() {
  const delivered: Delivered[] = []
  const calls: { verb: string; request: unknown }[] = []
  const live = new Map<string, { user: string; code: string; spent: boolean }>()
  const apps = new Map<string, string>()
  const backups = new Map<string, Set<string>>()
  let trouble: (() => Promise<void>) | undefined

  const asked = async (verb: string, request: unknown) => {
    calls.push({ verb, request })
    await trouble?.()
  }

  const service: MfaService = {
    async send(request: SendRequest) {
      await asked('send', request)
      const user = formatUser(request.contact)
      const id = request.challenge ?? randomUUID()
      const code = live.get(id)?.code ?? String(randomInt(1_000_000)).padStart(6, '0')
      live.set(id, { user, code, spent: false })
      delivered.unshift({ to: user, method: request.method, code })
      return { outcome: 'sent', challenge: id }
    },
    async verify(request: VerifyRequest) {
      await asked('verify', request)
      const user = formatUser(request.contact)
      if (request.kind === 'backup')
        return { outcome: backups.get(user)?.delete(request.code) ? 'valid' : 'invalid' }
      if (request.method === 'app') return { outcome: apps.get(user) === request.code ? 'valid' : 'invalid' }
      const challenge = live.get(request.challenge ?? '')
      const right = challenge?.user === user && challenge.code === request.code && !challenge.spent
      if (right && challenge) challenge.spent = true
      return { outcome: right ? 'valid' : 'invalid' }
    },
    async enrollApp(request) {
      await asked('enrollApp', request)
      apps.set(formatUser(request.contact), '123456')
      return { outcome: 'prepared', qr: 'data:image/png;base64,iVBORw0KGgo=', secret: 'JBSWY3DPEHPK3PXP' }
    },
    async sendBackupCodes(request) {
      await asked('sendBackupCodes', request)
      backups.set(formatUser(request.contact), new Set(['AAAABBBBCCCCDDDD', 'EEEEFFFFGGGGHHHH']))
      return { outcome: 'sent', count: 2 }
    },
  }

  return {
    service,
    calls,
    delivered,
    /** The code of the newest message, or of the newest to somebody. */
    newestCode: (to?: string) =>
      delivered.find((message) => to === undefined || message.to === to)?.code ?? '',
    /** Sets the code that somebody's app shows. */
    setApp: (user: string, code: string) => apps.set(user, code),
    /** Runs before every answer: wait in it, or throw. `undefined` ends the trouble. */
    setTrouble: (next: (() => Promise<void>) | undefined) => {
      trouble = next
    },
    /** How often a verb was called. */
    count: (verb: string) => calls.filter((call) => call.verb === verb).length,
    /** Has the next call wait: `arrived` tells that it is under way, `release` lets it be answered. */
    hold: () => {
      const arrived = signal()
      const released = signal()
      trouble = async () => {
        trouble = undefined
        arrived.give()
        await released.given
      }
      return { arrived: arrived.given, release: released.give }
    },
    /** A service that is down. */
    down: async () => {
      throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'down for the test')
    },
  }
}

export type StandIn = ReturnType<typeof standInService>
