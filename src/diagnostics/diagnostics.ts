import type { Request, Response } from 'express'
import type { Settings } from '../settings.js'
import { warningsAtRequest } from './at-request.js'
import { warningsAtStart } from './at-start.js'
import { watchSaving } from './session-saving.js'
import { WARNINGS, type WarningCode } from './warnings.js'

/** Tells what is set up in a way that works, but not as safely as it looks; each finding once. */
export interface Diagnostics {
  /** Looks at a request that has a session. Never throws, and changes nothing. */
  inspect(req: Request, res: Response): void
  /** Tells a finding, unless it was told before or is not wanted. */
  warn(code: WarningCode): void
}

/** How many requests are looked at for what any of them could show. */
const REQUESTS_LOOKED_AT = 10_000

const NOBODY: Diagnostics = { inspect() {}, warn() {} }

/** The doctor, having told what can be seen at the start. */
export function diagnosticsFor(
  settings: Pick<
    Settings,
    'diagnostics' | 'limits' | 'service' | 'trustedDevices' | 'path' | 'pathPrefix' | 'logger'
  >,
  emit: (code: WarningCode, remedy: string) => void,
): Diagnostics {
  if (settings.diagnostics === false) return NOBODY
  const quiet = new Set<WarningCode>(settings.diagnostics.ignore)
  const unseen = { resave: true, saveUninitialized: true }
  let looks = 0

  const warn = (code: WarningCode) => {
    if (quiet.has(code)) return
    quiet.add(code)
    settings.logger.warn(`countersign: ${WARNINGS[code]} [${code}]`)
    emit(code, WARNINGS[code])
  }
  const watch = (req: Request, res: Response) => {
    watchSaving(req, res, (saving, isNew) => {
      unseen[isNew ? 'saveUninitialized' : 'resave'] = false
      if (saving === 'resaved') warn('MFA_WARN_RESAVE')
      if (saving === 'saved though new') warn('MFA_WARN_SAVE_UNINITIALIZED')
    })
  }

  for (const code of warningsAtStart(settings)) warn(code)
  return {
    warn,
    inspect(req, res) {
      if (looks++ >= REQUESTS_LOOKED_AT) return
      for (const code of warningsAtRequest(req, settings)) warn(code)
      if (unseen.resave || unseen.saveUninitialized) watch(req, res)
    },
  }
}
