import type { Request, Response } from 'express'
import { guessingSentence } from '../protocol/methods.js'
import type { Settings } from '../settings.js'
import {
  isInDomain,
  type KeyRequestFacts,
  observeSaving,
  warningsAboutKeys,
  warningsAtRequest,
} from './at-request.js'
import { warningsAtStart } from './at-start.js'
import { WARNINGS, type WarningCode } from './warnings.js'

/** Warns about configurations that work but are less secure than they look. Each warning is emitted once. */
export interface Diagnostics {
  /** Checks a request that has a session. It never throws and changes nothing. */
  inspect(req: Request, res: Response): void
  /**
   * Checks a request for a page of keys, or for their options. `relatedOrigins` is asked only if the host is not in the domain of the
   * relying party. It waits for nothing, never throws and changes nothing.
   */
  inspectKeys(facts: KeyRequestFacts, relatedOrigins: () => Promise<readonly string[]>): void
  /**
   * Checks a change of factors that the host reports. `isProven` is asked only if the answer matters. It waits for nothing, never
   * throws and changes nothing.
   */
  inspectFactorChange(isProven: () => Promise<boolean>): void
  /** Emits a warning, unless it was emitted before or is ignored. */
  warn(code: WarningCode): void
}

/** What most requests would show, the first ones show. A rare one, such as behind a second proxy, is found by a sample. */
const FIRST_REQUESTS = 50
const SAMPLED_EVERY = 100
const MAX_INSPECTED_REQUESTS = 10_000

function isInspected(nth: number): boolean {
  return nth < FIRST_REQUESTS || (nth < MAX_INSPECTED_REQUESTS && nth % SAMPLED_EVERY === 0)
}

const DISABLED: Diagnostics = {
  inspect() {},
  inspectKeys() {},
  inspectFactorChange() {},
  warn() {},
}

/** Creates the diagnostics and emits the warnings that are known at start. */
export function diagnosticsFor(
  settings: Pick<
    Settings,
    | 'diagnostics'
    | 'limits'
    | 'service'
    | 'trustedDevices'
    | 'notices'
    | 'recovery'
    | 'path'
    | 'pathPrefix'
    | 'logger'
  >,
  emit: (code: WarningCode, remedy: string) => void,
): Diagnostics {
  if (settings.diagnostics === false) return DISABLED
  const silenced = new Set<WarningCode>(settings.diagnostics.ignore)
  const unchecked = { resave: true, saveUninitialized: true }
  let requests = 0

  const warn = (code: WarningCode) => {
    if (silenced.has(code)) return
    silenced.add(code)
    settings.logger.warn(`countersign: ${WARNINGS[code]} [${code}]`)
    emit(code, WARNINGS[code])
  }
  const watch = (req: Request, res: Response) => {
    observeSaving(req, res, (saving, isNew) => {
      unchecked[isNew ? 'saveUninitialized' : 'resave'] = false
      if (saving === 'resaved') warn('MFA_WARN_RESAVE')
      if (saving === 'saved new') warn('MFA_WARN_SAVE_UNINITIALIZED')
    })
  }

  for (const code of warningsAtStart(settings)) warn(code)
  // In development it would be one more line at each start.
  if (process.env.NODE_ENV === 'production') {
    settings.logger.info?.(`countersign: ${guessingSentence(settings.limits)}`)
  }
  return {
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
    inspect(req, res) {
      if (!isInspected(requests++)) return
      for (const code of warningsAtRequest(req, settings)) warn(code)
      if (unchecked.resave || unchecked.saveUninitialized) watch(req, res)
    },
  }
}
