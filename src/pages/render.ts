import {
  backupCodesGonePage,
  backupCodesLeftPage,
  backupCodesPage,
  backupPage,
  backupSentPage,
} from './backup.js'
import { choosePage } from './choose.js'
import { codePage } from './code.js'
import { devicesPage } from './devices.js'
import { enrolledPage, enrollPage, enrollStartPage } from './enroll.js'
import { keyOfferPage, keyPage, keysPage } from './keys.js'
import { renderLayout } from './layout.js'
import { overviewPage } from './overview.js'
import type { Page, PageContext } from './page.js'
import {
  bypassPage,
  cancelRecoveryPage,
  notMePage,
  recoverPage,
  recoveryCanceledPage,
  recoveryPage,
  securedPage,
} from './recovery.js'
import { keyRemovePage, removePage } from './remove.js'
import { resumePage, stopPage } from './stop.js'
import { catalogues, type Languages, pickText } from './text.js'
import type { PageFrame, View, ViewOf } from './view.js'

/** The page of each view. */
const PAGES: { readonly [Name in View['page']]: (view: ViewOf<Name>, context: PageContext) => Page } = {
  choose: choosePage,
  code: codePage,
  key: keyPage,
  keys: keysPage,
  'key-remove': keyRemovePage,
  'key-offer': keyOfferPage,
  'enroll-start': enrollStartPage,
  enroll: enrollPage,
  enrolled: enrolledPage,
  backup: backupPage,
  'backup-sent': backupSentPage,
  'backup-codes-left': backupCodesLeftPage,
  overview: overviewPage,
  remove: removePage,
  resume: resumePage,
  'backup-codes': backupCodesPage,
  'backup-codes-gone': backupCodesGonePage,
  devices: devicesPage,
  'not-me': notMePage,
  secured: securedPage,
  bypass: bypassPage,
  recover: recoverPage,
  recovery: recoveryPage,
  'cancel-recovery': cancelRecoveryPage,
  'recovery-canceled': recoveryCanceledPage,
  stop: stopPage,
}

/** Renders a view to an HTML document, in the language that matches `frame.locales` best. */
export function renderView(view: View, frame: PageFrame, languages: Languages = catalogues): string {
  const text = pickText(frame.locales, languages)
  const asksForAppCode = view.page === 'code' && view.factor !== 'backup' && view.factor.method === 'app'
  const context: PageContext = { frame, text, words: text.words, asksForAppCode }
  // TypeScript does not see that the function takes this view.
  const pageOf = PAGES[view.page] as (view: View, context: PageContext) => Page
  return renderLayout(pageOf(view, context), context).markup
}
