import { createHash } from 'node:crypto'
import { createMfa, type Mfa, type MfaEvent, type MfaOptions, type MfaService } from 'countersign'
import type { Request } from 'express'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { clientNetwork } from '../../messages/contacts/client-network.js'
import { CONSOLE_NAME, consoleLimits } from '../../operator/console-counters.js'
import { SESSION_MS } from '../../operator/external-operators.js'
import { CONSOLE_APPLICATION, findOperator, type OperatorAccount } from '../../operator/operator-account.js'
import { checkSignIn } from '../../operator/sign-ins.js'
import type { ConsoleParts } from '../parts.js'

/** Where the sign-in at the identity provider begins, and where its step-ups begin. */
export const OIDC_PATH = '/console/sign-in/oidc'

/** The second factor of operators, which every sign-in requires: our own plugin on our own service, in this process. */
export function consoleMfa(parts: ConsoleParts): Mfa<OperatorAccount> {
  const { mfa, store, log } = parts
  return createMfa<OperatorAccount>({
    service: addRecordedFactors(mfa, store),
    userId: getMfaId,
    factors: () => [],
    policy: () => 'require',
    appContact: (operator) =>
      operator.isExternal ? `${getMfaId(operator)}@operators.invalid` : operator.email,
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
    login: {
      signInPath: '/console/sign-in',
      signOutPath: '/console/sign-out',
      homePath: '/console',
      ...createEvidence(parts),
    },
    limits: { store: consoleLimits(store) },
    languages: { locale: () => 'en' },
  })
}

/** The name of an operator in the plugin. Issuer and subject together may be too long for one. */
function getMfaId({ email, isExternal }: OperatorAccount): string {
  return isExternal ? `oidc-${createHash('sha256').update(email).digest('hex').slice(0, 32)}` : email
}

/** The values of the identity provider that count for its operators if the options list them. */
function createEvidence({ oidc }: ConsoleParts) {
  if (!oidc) return {}
  const strong = (values: readonly string[]) =>
    Object.fromEntries(values.map((value) => [value, 'strong' as const]))
  const counted = { amr: strong(oidc.amr), acr: strong(oidc.acr) }
  return {
    evidence: ({ user }: { readonly user: SessionOperator }) => user.evidence,
    issuers: { [oidc.issuer]: { ...counted, maxAge: SESSION_MS, stepUpPath: OIDC_PATH } },
  }
}

/**
 * The service with the factors in the operator's row: it may still keep some that a new invitation has ended. One that only the row
 * names cannot be used, and still counts.
 */
function addRecordedFactors(mfa: MfaService, store: ConsoleParts['store']): MfaService {
  const { factorsOf: known } = mfa
  return {
    ...mfa,
    ...(known && {
      async factorsOf(request) {
        const [factors, operator] = await Promise.all([
          known(request),
          findOperator(store, request.account ?? ''),
        ])
        const recorded = [...(operator?.keys ?? []), ...(operator?.hasApp ? (['app'] as const) : [])]
        const existing = recorded.map(
          (method) =>
            factors.existing.find((factor) => factor.method === method) ?? { method, usable: false },
        )
        return { ...factors, existing }
      },
    }),
  }
}

/** Writes what operators do with their own second factors to the audit log. */
async function record({ operator }: ConsoleParts, event: MfaEvent): Promise<void> {
  if (event.type === 'verified' && event.purpose === 'sign-in') {
    return operator(event.userId).recordSignIn()
  }
  if (event.type === 'app_enrolled') {
    return operator(event.userId).recordOwnFactor({ method: 'app', change: 'added' })
  }
  if (event.type === 'key_added') {
    return operator(event.userId).recordOwnFactor({ method: event.method, change: 'added' })
  }
  if (event.type === 'factor_removed' && event.method !== 'backup') {
    return operator(event.userId).recordOwnFactor({ method: event.method, change: 'removed' })
  }
}

/** The evidence of the identity provider. The plugin checks it, whatever its type is. */
type SignInEvidence = NonNullable<
  ReturnType<NonNullable<NonNullable<MfaOptions<OperatorAccount>['login']>['evidence']>>
>

/** An operator in a session that began at a time. */
interface SessionOperator extends OperatorAccount {
  readonly signedInAt?: number
  /** The evidence of the identity provider in the sign-in of this request. */
  readonly evidence?: SignInEvidence
}

/** Passport with the passwords of operators. */
export function consolePassport({ store }: Pick<ConsoleParts, 'store'>) {
  const own = new passport.Passport()
  own.use(
    new LocalStrategy(
      { usernameField: 'email', passReqToCallback: true },
      (request: Request, email: string, password: string, done) => {
        const network = clientNetwork(request.ip ?? '')
        checkSignIn(store, { email, password, network }).then((result) => {
          if (result.outcome === 'accepted') return done(null, castUser(result.operator))
          return done(null, false, { message: result.outcome })
        }, done)
      },
    ),
  )
  // A step-up logs in again; it keeps the time of the password.
  own.serializeUser((user, done) => {
    const { email, version, signedInAt = Date.now() } = getOperator(user)
    done(null, JSON.stringify([email, version, signedInAt]))
  })
  own.deserializeUser((kept: unknown, done) => {
    const [email, version, signedInAt] = JSON.parse(String(kept)) as [string, number, number]
    if (Date.now() - signedInAt >= SESSION_MS) return done(null, false)
    findOperator(store, email).then((found) => {
      // A new password and a disabled account end all sessions.
      if (found?.version !== version) return done(null, false)
      const operator: SessionOperator = { ...found, signedInAt }
      return done(null, castUser(operator))
    }, done)
  })
  return own
}

/** An instance of Passport, separate from the one that `import passport` shares. */
export type ConsolePassport = ReturnType<typeof consolePassport>

/** The operator behind `request.user`, whose type an app that embeds the service may have extended. */
export function getOperator(user: object): SessionOperator {
  return user as SessionOperator
}

/** An operator as Passport's type has users. */
export function castUser(operator: object): Express.User {
  return operator as Express.User
}
