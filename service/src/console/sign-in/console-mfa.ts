import { createMfa, type Mfa } from 'countersign'
import { consoleCounters } from '../../operator/console-counters.js'
import { CONSOLE_APPLICATION, type OperatorAccount } from '../../operator/operator-account.js'
import type { ConsoleParts } from '../parts.js'

/** The name of the console on the pages of the second factor. */
export const CONSOLE_NAME = 'Countersign console'

/** The second factor of operators, which every sign-in requires: our own plugin on our own service, in this process. */
export function consoleMfa({ mfa, store, operator, log }: ConsoleParts): Mfa<OperatorAccount> {
  return createMfa<OperatorAccount>({
    service: mfa,
    userId: ({ email }) => email,
    factors: ({ hasApp, email }) => (hasApp ? [{ method: 'app', user: email }] : []),
    policy: () => 'require',
    appContact: ({ email }) => email,
    onAppEnrolled: ({ email }) => operator(email).recordEnrolledApp(),
    onEvent: ({ type, ...event }) => {
      log({ level: 'info', event: `console.${type}`, application: CONSOLE_APPLICATION })
      if (type === 'verified' && 'purpose' in event && event.purpose === 'sign-in') {
        return operator(event.userId).recordSignIn()
      }
      return undefined
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
