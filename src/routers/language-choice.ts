import type { Request } from 'express'
import type { PageFrame, View } from '../pages/view.js'
import { requestedUrl, safeReturnTo } from '../session/store.js'
import type { Settings } from '../settings.js'

/** The languages that a page offers, and the address that shows it again in another one. */
export function languageChoice(
  req: Request,
  settings: Settings,
  view: View,
  failed: boolean,
): Pick<PageFrame, 'languages'> {
  const { offer } = settings.languages
  // Another page in another language would not show the codes again.
  if (view.page === 'backup-codes') return {}
  const back = offer && returnPageOf(req, settings, view, failed)
  return offer === undefined || back === undefined ? {} : { languages: { offer, back } }
}

/** The address of a page. The response to a successful POST, such as a QR code, is shown once and has none. */
function returnPageOf(req: Request, settings: Settings, view: View, failed: boolean): string | undefined {
  const { path } = settings
  if (req.method !== 'POST') return safeReturnTo(requestedUrl(req, settings))
  if (!failed) return undefined
  if (view.page === 'choose') return `${path}?choose`
  if (view.page !== 'code') return path
  return `${path}/verify?factor=${view.factor === 'backup' ? 'backup' : encodeURIComponent(view.factor.id)}`
}
