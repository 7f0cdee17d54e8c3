import type { Request, Response } from 'express'
import type { Settings } from '../settings.js'
import { findAtRequest } from './at-request.js'
import { findAtStart } from './at-start.js'
import { FINDINGS, type FindingCode } from './findings.js'
import { watchSaving } from './saving.js'

/** Tells what is set up in a way that works, but not as safely as it looks; each finding once. */
export interface Doctor {
  /** Looks at a request that has a session. Never throws, and changes nothing. */
  look(req: Request, res: Response): void
  /** Tells a finding, unless it was told before or is not wanted. */
  found(code: FindingCode): void
}

/** How many requests are looked at for what any of them could show. */
const REQUESTS_LOOKED_AT = 10_000

const NOBODY: Doctor = { look() {}, found() {} }

/** The doctor, having told what can be seen at the start. */
export function doctorFor(
  settings: Pick<
    Settings,
    'doctor' | 'limits' | 'service' | 'trustedDevices' | 'path' | 'pathPrefix' | 'logger'
  >,
  tell: (code: FindingCode, remedy: string) => void,
): Doctor {
  if (settings.doctor === false) return NOBODY
  const quiet = new Set<FindingCode>(settings.doctor.ignore)
  const unseen = { resave: true, saveUninitialized: true }
  let looks = 0

  const found = (code: FindingCode) => {
    if (quiet.has(code)) return
    quiet.add(code)
    settings.logger.warn(`countersign: ${FINDINGS[code]} [${code}]`)
    tell(code, FINDINGS[code])
  }
  const watch = (req: Request, res: Response) => {
    watchSaving(req, res, (saving, isNew) => {
      unseen[isNew ? 'saveUninitialized' : 'resave'] = false
      if (saving === 'resaved') found('MFA_DOCTOR_RESAVE')
      if (saving === 'saved though new') found('MFA_DOCTOR_SAVE_UNINITIALIZED')
    })
  }

  for (const code of findAtStart(settings)) found(code)
  return {
    found,
    look(req, res) {
      if (looks++ >= REQUESTS_LOOKED_AT) return
      for (const code of findAtRequest(req, settings)) found(code)
      if (unseen.resave || unseen.saveUninitialized) watch(req, res)
    },
  }
}
