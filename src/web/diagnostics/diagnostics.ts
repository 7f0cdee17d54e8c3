import type { Request } from 'express'
import type { HostError } from '../../errors.js'
import type { Settings } from '../../options/settings.js'
import { WARNINGS, type WarningCode } from '../../options/warnings.js'
import { guessingSentence } from '../../protocol/methods.js'
import { requestedUrl } from '../../session/return-to.js'
import {
  cookieOf,
  hasUserBesidePassport,
  sendsCookie,
  storeNameOf,
  storesSession,
} from '../../session/store.js'
import { isPassportKnown } from '../../session/withheld-user.js'
import { askRedis, found, storesThatLose, warningsAtStart } from './at-start.js'

/** Reports errors in the setup, and warns about setups that work but are less secure than they look. Each once. */
export interface Diagnostics {
  /** Checks a request that has a session. It never throws and changes nothing. */
  inspect(req: Request): void
  /** Checks a request that has just signed a user in. Never waits or throws. */
  inspectLogin(req: Request): void
  /** Checks a request about keys. `relatedOrigins` is asked only outside the relying party's domain. */
  inspectKeys(facts: KeyRequestFacts, relatedOrigins: () => Promise<readonly string[]>): void
  /** Checks a change of factors that the host reports. `isProven` is asked only if the answer matters. */
  inspectFactorChange(isProven: () => Promise<boolean>): void
  /** Emits a warning, unless it was emitted before or is ignored. `detail` is a sentence about this app. */
  warn(code: WarningCode, detail?: string): void
  /** Logs an error in how the app is set up, once for each code, also where warnings are off. */
  report(error: HostError): void
}

/** What most requests would show, the first ones show. A rare one, such as behind a second proxy, is found by a sample. */
const FIRST_REQUESTS = 50
const SAMPLED_EVERY = 100
const MAX_INSPECTED_REQUESTS = 10_000

function isInspected(nth: number): boolean {
  return nth < FIRST_REQUESTS || (nth < MAX_INSPECTED_REQUESTS && nth % SAMPLED_EVERY === 0)
}

const DISABLED: Omit<Diagnostics, 'report'> = {
  inspect() {},
  inspectLogin() {},
  inspectKeys() {},
  inspectFactorChange() {},
  warn() {},
}

/** Creates the diagnostics and emits the warnings that are known at start. */
export function diagnosticsFor(
  settings: Settings,
  emit: (code: WarningCode, remedy: string) => void,
): Diagnostics {
  const reported = new Set<string>()
  const report = ({ code, message }: HostError) => {
    if (!reported.has(code)) settings.logger.error(`countersign: ${message} [${code}]`)
    reported.add(code)
  }
  if (settings.diagnostics === false) return { ...DISABLED, report }
  const silenced = new Set<WarningCode>(settings.diagnostics.ignore)
  let requests = 0
  let isSessionStoreChecked = false

  const warn = (code: WarningCode, detail?: string) => {
    if (silenced.has(code)) return
    silenced.add(code)
    const remedy = detail === undefined ? WARNINGS[code] : `${WARNINGS[code]} ${detail}`
    settings.logger.warn(`countersign: ${remedy} [${code}]`)
    emit(code, remedy)
  }
  // A store that fails says so by itself.
  const warnOfLoss = (checked: Promise<readonly string[]>) =>
    void checked.then(
      (stores) => {
        if (stores.length > 0) warn('MFA_WARN_STORE_LOSES', `It is the store of: ${stores.join(', ')}.`)
      },
      () => {},
    )

  for (const code of warningsAtStart(settings)) warn(code)
  const askUnasked = askRedis(settings, warn)
  askUnasked()
  // In development it would be one more line at each start.
  if (process.env.NODE_ENV === 'production') {
    settings.logger.info?.(`countersign: ${guessingSentence(settings.limits)}`)
  }
  return {
    report,
    warn,
    inspectKeys(facts, relatedOrigins) {
      for (const code of warningsAboutKeys(facts)) warn(code)
      if (isInDomain(facts) || silenced.has('MFA_WARN_KEY_RELYING_PARTY')) return
      relatedOrigins().then(
        (origins) => {
          const hosts = origins.map((origin) => new URL(origin).hostname)
          if (!hosts.includes(facts.hostname)) warn('MFA_WARN_KEY_RELYING_PARTY')
        },
        // The next request checks it again.
        () => {},
      )
    },
    inspectFactorChange(isProven) {
      if (silenced.has('MFA_WARN_FACTOR_CHANGE')) return
      isProven().then(
        (proven) => {
          if (!proven) warn('MFA_WARN_FACTOR_CHANGE')
        },
        // The next change checks it again.
        () => {},
      )
    },
    inspect(req) {
      if (!isInspected(requests++)) return
      askUnasked()
      for (const code of warningsAtRequest(req, settings)) warn(code)
      if (requests === 1) warnOfLoss(storesThatLose(settings))
    },
    inspectLogin(req) {
      if (!sendsCookie(req)) warn('MFA_WARN_COOKIE_NOT_SENT')
      if (!isSessionStoreChecked)
        warnOfLoss(storesSession(req).then((kept) => (kept ? [] : ['express-session'])))
      isSessionStoreChecked = true
    },
  }
}

// The default limit of Express's parsers. A larger body means that the host raised the limit.
const LARGE_BODY_BYTES = 100 * 1024

/** The warnings that one request reveals about the app. The request has a session. */
function warningsAtRequest(req: Request, settings: Settings): WarningCode[] {
  return [
    ...found({
      MFA_WARN_TRUST_PROXY: isBehindUnknownProxy(req),
      MFA_WARN_PATH_PREFIX: lacksPrefix(req, settings),
      MFA_WARN_BODY_PARSER: wasLargeBodyParsed(req, settings),
      MFA_WARN_PASSPORT_INSTANCE: !isPassportKnown(req),
      MFA_WARN_USER_BESIDE_PASSPORT: hasUserBesidePassport(req),
    }),
    ...(process.env.NODE_ENV === 'production' ? warningsInSession(req, settings) : []),
  ]
}

function isBehindUnknownProxy(req: Request): boolean {
  const isProxied = ['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded'].some(
    (name) => req.get(name) !== undefined,
  )
  const setting: unknown = req.app.get('trust proxy')
  return isProxied && !setting
}

function lacksPrefix(req: Request, { path }: Settings): boolean {
  const prefix = req.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  return !path.startsWith(`${prefix}/`)
}

function wasLargeBodyParsed(req: Request, settings: Settings): boolean {
  const isOurs = requestedUrl(req, settings).startsWith(`${settings.path}/`)
  const isLarge = Number(req.get('content-length') ?? 0) > LARGE_BODY_BYTES
  return isOurs && isLarge && req.readableEnded
}

function warningsInSession(req: Request, { limits }: Settings): WarningCode[] {
  const { secure, httpOnly, sameSite } = cookieOf(req)
  const inMemory = storeNameOf(req) === 'MemoryStore'
  const countsAlone = limits.store === 'memory'
  return found({
    MFA_WARN_MEMORY_SESSIONS: inMemory,
    // A shared session store suggests several processes.
    MFA_WARN_SEPARATE_COUNTERS: !inMemory && countsAlone,
    MFA_WARN_COOKIE_SECURE: !secure,
    MFA_WARN_COOKIE_HTTP_ONLY: httpOnly === false,
    MFA_WARN_COOKIE_SAME_SITE: sameSite === 'none',
  })
}

/** What a request for a page of keys, or for their options, shows. */
interface KeyRequestFacts {
  /** The host that the browser requested, without the port. */
  readonly hostname: string
  /** The header `Permissions-Policy` of the response. */
  readonly permissionsPolicy: unknown
  /** The relying party's id, if it is known. */
  readonly relyingPartyId?: unknown
}

/** A feature whose list of origins is empty, so that no page may use it. */
const FORBIDS_KEYS = /publickey-credentials-(?:get|create)\s*=\s*\(\s*\)/i

const IP_ADDRESS = /^[\d.]+$|^\[?[\da-f]*:/i

/** The warnings about what keeps browsers from using keys on any site. */
function warningsAboutKeys({ hostname, permissionsPolicy }: KeyRequestFacts): WarningCode[] {
  return found({
    MFA_WARN_KEY_IP_ADDRESS: IP_ADDRESS.test(hostname),
    MFA_WARN_KEY_PERMISSIONS_POLICY: FORBIDS_KEYS.test([permissionsPolicy].flat().join(',')),
  })
}

/** Whether the host is in the domain of the relying party. An IP address has a warning of its own. */
function isInDomain({ hostname, relyingPartyId: id }: KeyRequestFacts): boolean {
  return typeof id !== 'string' || hostname === id || hostname.endsWith(`.${id}`) || IP_ADDRESS.test(hostname)
}
