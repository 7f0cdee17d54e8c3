import { COUNTERSIGN, type Dialect } from '../options/dialect.js'
import type { ServiceSettings } from '../options/service.js'
import { formatUser } from '../protocol/contact.js'
import { KEY_VERBS, KEYS_PATH } from '../protocol/key-verbs.js'
import { VERIFY_TYPE } from '../protocol/methods.js'
import type { CompleteMfaService, KeyVerbs, MfaService } from '../protocol/service.js'
import { VERBS } from '../protocol/verbs.js'
import { COUNTERSIGN_CODES, type Scope } from '../protocol/wire.js'
import { pickGiven } from '../shape.js'
import { httpTransport } from './http-transport.js'
import { identifiedTransport } from './identified-transport.js'
import { checkScopes } from './identity.js'
import { watchedTransport } from './key-watch.js'
import { type Extras, publishedCalls } from './published-calls.js'
import { isKeyRefusal, keyRefused, readClockSteps, readRefusal } from './refusals.js'
import { invalidResponse, isSmallCount, validFields, verifyContradictionIn } from './response-validation.js'
import { observedTransport, type Transport } from './transport.js'
import { type VerbCalls, verbClient } from './verb-client.js'

/** The facts that the client finds out about the service. */
export interface ServiceObserver {
  /** Called at a response of the Countersign service to a client that does not use its additions. */
  onOwnService?(): void
  /** Called when a service without a configured dialect does not answer like the Countersign service. */
  onUnrecognized?(): void
  /** Called with the scopes that the API key lacks, when the Countersign service says at the first call which ones it has. */
  onMissingScopes?(missing: readonly Scope[]): void
}

/** The client of an MFA service in the dialect of `settings`, or by default of the Countersign service, which must say so first. */
export function httpService(
  settings: ServiceSettings,
  { onOwnService, onUnrecognized, onMissingScopes }: ServiceObserver = {},
  transport: Transport = httpTransport(settings),
): HttpService {
  const { dialect, timeoutMs } = settings
  if (dialect === 'detect') {
    const onIdentified = () => void (onMissingScopes && checkScopes(transport, timeoutMs, onMissingScopes))
    const identified = identifiedTransport(transport, timeoutMs, { onUnrecognized, onIdentified })
    return dialectClient(settings, COUNTERSIGN, identified)
  }
  if (dialect.extras || !onOwnService) return dialectClient(settings, dialect, transport)
  const observed = observedTransport(transport, ({ isCountersign }) => {
    if (isCountersign) onOwnService()
  })
  return dialectClient(settings, dialect, observed)
}

const { send: _send, verify: _verify, enrollApp: _enrollApp, sendBackupCodes: _backup, ...OWN_VERBS } = VERBS
type OwnVerbs = Required<Pick<MfaService, keyof typeof OWN_VERBS>>

/** An MFA service over HTTP. */
export type HttpService = CompleteMfaService & { close(): Promise<void> }

/** The client of an MFA service that implements the HTTP API in this dialect. */
function dialectClient(
  { timeoutMs }: Pick<ServiceSettings, 'timeoutMs'>,
  dialect: Dialect,
  given: Transport,
): HttpService {
  // The Countersign service says itself that it refuses the key.
  const transport = dialect.extras ? given : watchedTransport(given, dialect.paths)
  const post = (path: string, parameters: Record<string, string | undefined>) =>
    transport.post(path, pickGiven(parameters))

  const extras: Extras = (caller) =>
    dialect.extras
      ? {
          Account: caller.account,
          ClientAddress: caller.clientAddress,
          Locale: caller.locale,
          Purpose: caller.purpose,
          Kind: caller.kind?.toUpperCase(),
          Transaction: caller.transaction,
          Approval: caller.approval && JSON.stringify(caller.approval),
          SignIn: caller.signIn && JSON.stringify(caller.signIn),
        }
      : {}

  const calls: VerbCalls = {
    post,
    get: (path, limitMs = timeoutMs) => transport.get(path, Math.min(timeoutMs, limitMs)),
    extras,
  }
  const keysPath = dialect.paths.keys

  return {
    ...publishedCalls(transport, dialect, extras),

    async verify(request) {
      const { method, contact, code, challenge } = request
      const answer = await post(dialect.paths.verify, {
        User: formatUser(contact),
        Type: VERIFY_TYPE[method],
        Code: code,
        Challenge: challenge,
        ...extras(request),
      })
      if (answer.status === 401) {
        if (isKeyRefusal(answer)) throw keyRefused(answer)
        const clockSteps = method === 'app' ? readClockSteps(answer) : undefined
        return { outcome: 'invalid', ...(clockSteps !== undefined && { clockSteps }) }
      }
      // Verifying sends no message, so a 429 without a reason means too many wrong codes.
      if (answer.status !== 200) return readRefusal(answer, 'locked')
      const fields = validFields(answer)
      const contradiction = verifyContradictionIn(fields)
      if (contradiction === 'no') return { outcome: 'invalid' }
      if (contradiction === 'error') throw invalidResponse('status 200 with an error')
      if (dialect.validWhen === 'body' && fields.valid !== true) {
        throw invalidResponse('status 200 without `valid: true`')
      }
      const left = fields.backup_codes_left
      return {
        outcome: 'valid',
        // Only a service that is told the kind can accept a code as nothing else.
        ...(dialect.extras && request.kind === 'backup' && { kind: request.kind }),
        ...(isSmallCount(left) && { backupCodesLeft: left }),
        ...(dialect.extras && fields.backup_delivery === 'page' && { backupDelivery: 'page' }),
      }
    },

    // A dialect of other parts belongs to another service.
    ...(dialect === COUNTERSIGN && { codes: COUNTERSIGN_CODES, approvals: true as const }),
    // Only the Countersign service has these endpoints.
    ...(dialect.extras && verbClient<OwnVerbs>(OWN_VERBS, calls)),
    ...(keysPath !== undefined && {
      keys: verbClient<KeyVerbs>(KEY_VERBS, {
        ...calls,
        pathOf: (path) => `${keysPath}${path.slice(KEYS_PATH.length)}`,
      }),
    }),
    close: () => transport.close(),
  }
}
