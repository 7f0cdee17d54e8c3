import type { Request } from 'express'
import type { HostError } from '../../errors.js'
import { ignore } from '../../no-op.js'
import type { Settings } from '../../options/settings.js'
import { WARNINGS, type WarningCode } from '../../options/warnings.js'
import { guessingSentence } from '../../protocol/guessing.js'
import { sendsCookie, storesSession } from '../../session/store.js'
import { findKeyWarnings, isInDomain, type KeyRequestFacts } from './about-keys.js'
import { findRequestWarnings } from './at-request.js'
import { askRedis, findLosingStores, findStartWarnings } from './at-start.js'

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

/** The first requests show every common fault. A rare one, such as behind a second proxy, is found by a sample. */
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
export function createDiagnostics(
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
    void checked
      .then((stores) => {
        if (stores.length > 0) warn('MFA_WARN_STORE_LOSES', `It is the store of: ${stores.join(', ')}.`)
      })
      .catch(ignore)

  for (const code of findStartWarnings(settings)) warn(code)
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
      for (const code of findKeyWarnings(facts)) warn(code)
      if (isInDomain(facts) || silenced.has('MFA_WARN_KEY_RELYING_PARTY')) return
      relatedOrigins()
        .then((origins) => {
          const hosts = origins.map((origin) => new URL(origin).hostname)
          if (!hosts.includes(facts.hostname)) warn('MFA_WARN_KEY_RELYING_PARTY')
        })
        // The next request checks it again.
        .catch(ignore)
    },
    inspectFactorChange(isProven) {
      if (silenced.has('MFA_WARN_FACTOR_CHANGE')) return
      isProven()
        .then((proven) => {
          if (!proven) warn('MFA_WARN_FACTOR_CHANGE')
        })
        // The next change checks it again.
        .catch(ignore)
    },
    inspect(req) {
      if (!isInspected(requests++)) return
      askUnasked()
      for (const code of findRequestWarnings(req, settings)) warn(code)
      if (requests === 1) warnOfLoss(findLosingStores(settings))
    },
    inspectLogin(req) {
      if (!sendsCookie(req)) warn('MFA_WARN_COOKIE_NOT_SENT')
      if (!isSessionStoreChecked)
        warnOfLoss(storesSession(req).then((kept) => (kept ? [] : ['express-session'])))
      isSessionStoreChecked = true
    },
  }
}
