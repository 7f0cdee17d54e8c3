import { type CompleteMfaService, formatUser, ServiceError } from '../../src/protocol/index.js'
import { canonicalBackupCode } from '../../src/protocol/methods.js'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { testService } from '../../src/testing/service.js'
import { signal } from './signal.js'

/** A message that the stand-in has "delivered". */
export interface Delivered {
  readonly to: string
  readonly method: string
  readonly code: string
}

/**
 * The service of the test kit, with additions for our own tests: it records its requests, can be delayed and made to
 * fail, and its apps and backup codes are known in advance.
 */
export function standInService() {
  const inbox = testInbox()
  const kit = testService(testCarrier(inbox))
  const calls: { verb: string; request: unknown }[] = []
  const apps = new Map<string, string>()
  const backups = new Map<string, Set<string>>()
  let trouble: (() => Promise<void>) | undefined

  const asked = async (verb: string, request: unknown) => {
    calls.push({ verb, request })
    await trouble?.()
  }

  const service: CompleteMfaService = {
    async send(request) {
      await asked('send', request)
      return kit.service.send(request)
    },
    async verify(request) {
      await asked('verify', request)
      const user = formatUser(request.contact)
      if (request.kind === 'backup')
        return backups.get(user)?.delete(canonicalBackupCode(request.code))
          ? { outcome: 'valid', kind: 'backup' }
          : { outcome: 'invalid' }
      if (request.method === 'app') return { outcome: apps.get(user) === request.code ? 'valid' : 'invalid' }
      return kit.service.verify(request)
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
    /** The delivered messages, newest first. */
    get delivered(): readonly Delivered[] {
      return inbox.all()
    },
    /** The code of the newest message, or of the newest message to one contact. */
    newestCode: (to?: string) => inbox.all(to)[0]?.code ?? '',
    /** Sets the code that the app of a contact shows. */
    setApp: (user: string, code: string) => apps.set(user, code),
    /** Sets a function that runs before every response and can wait or throw; `undefined` removes it. */
    setTrouble: (next: (() => Promise<void>) | undefined) => {
      trouble = next
    },
    /** How often a verb was called. */
    count: (verb: string) => calls.filter((call) => call.verb === verb).length,
    /** Makes the next call wait: `arrived` resolves when it has started, `release` lets it continue. */
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
