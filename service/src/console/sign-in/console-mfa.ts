import { createMfa, type FactorInput, type Mfa, type MfaEvent, type MfaService } from 'countersign'
import { CONSOLE_NAME } from '../../operator/console-application.js'
import { consoleCounters } from '../../operator/console-counters.js'
import { CONSOLE_APPLICATION, type OperatorAccount } from '../../operator/operator-account.js'
import type { ConsoleParts } from '../parts.js'

/** The second factor of operators, which every sign-in requires: our own plugin on our own service, in this process. */
export function consoleMfa(parts: ConsoleParts): Mfa<OperatorAccount> {
  const { mfa, store, operator, log } = parts
  return createMfa<OperatorAccount>({
    service: withoutKnownKeys(mfa),
    userId: ({ email }) => email,
    factors: factorsOf,
    keys: true,
    policy: () => 'require',
    appContact: ({ email }) => email,
    onAppEnrolled: ({ email }) => operator(email).recordOwnFactor({ method: 'app', change: 'added' }),
    onAppRemoved: ({ email }) => operator(email).recordOwnFactor({ method: 'app', change: 'removed' }),
    onEvent(event) {
      log({ level: 'info', event: `console.${event.type}`, application: CONSOLE_APPLICATION })
      return record(parts, event)
    },
    logger: {
      warn: (detail) => log({ level: 'warn', event: 'console.warning', detail }),
      error: (detail) => log({ level: 'error', event: 'console.failed', detail }),
    },
    appName: CONSOLE_NAME,
    urls: { path: '/console/mfa' },
    login: { signInPath: '/console/sign-in', signOutPath: '/console/sign-out', homePath: '/console' },
    limits: { store: consoleCounters(store) },
    languages: { locale: () => 'en' },
  })
}

function factorsOf({ email, hasApp, keys }: OperatorAccount): FactorInput[] {
  return [
    ...keys.map((method) => ({ method, user: email })),
    ...(hasApp ? [{ method: 'app', user: email } as const] : []),
  ]
}

/**
 * The service without the keys of an account: the operator's row lists them with every request, and the service may still keep keys
 * that a new invitation has ended.
 */
function withoutKnownKeys(mfa: MfaService): MfaService {
  const { factorsOf: known } = mfa
  return {
    ...mfa,
    ...(known && {
      async factorsOf(request) {
        const factors = await known(request)
        return { ...factors, existing: factors.existing.filter(({ method }) => method === 'app') }
      },
    }),
  }
}

/** Writes what operators do with their own second factors to the audit log. */
async function record({ operator }: ConsoleParts, event: MfaEvent): Promise<void> {
  if (event.type === 'verified' && event.purpose === 'sign-in') {
    return operator(event.userId).recordSignIn()
  }
  if (event.type === 'key_added') {
    return operator(event.userId).recordOwnFactor({ method: event.method, change: 'added' })
  }
  if (event.type === 'factor_removed' && (event.method === 'security-key' || event.method === 'passkey')) {
    return operator(event.userId).recordOwnFactor({ method: event.method, change: 'removed' })
  }
}
