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
import { layout } from './layout.js'
import { overviewPage } from './overview.js'
import { type Page, type PageContext, pageContext } from './page.js'
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
import { catalogues, type Languages } from './text.js'
import type { PageFrame, View } from './view.js'

/** Renders a view to an HTML document, in the language that matches `frame.locales` best. */
export function renderView(view: View, frame: PageFrame, languages: Languages = catalogues): string {
  const context = pageContext(frame, languages)
  return layout(pageFor(view, context), context).markup
}

function pageFor(view: View, context: PageContext): Page {
  switch (view.page) {
    case 'choose':
      return choosePage(view, context)
    case 'code':
      return codePage(view, context)
    case 'key':
      return keyPage(view, context)
    case 'keys':
      return keysPage(view, context)
    case 'key-remove':
      return keyRemovePage(view, context)
    case 'key-offer':
      return keyOfferPage(view, context)
    case 'enroll-start':
      return enrollStartPage(view, context)
    case 'enroll':
      return enrollPage(view, context)
    case 'enrolled':
      return enrolledPage(view, context)
    case 'backup':
      return backupPage(view, context)
    case 'backup-sent':
      return backupSentPage(view, context)
    case 'backup-codes-left':
      return backupCodesLeftPage(view, context)
    case 'overview':
      return overviewPage(view, context)
    case 'remove':
      return removePage(view, context)
    case 'resume':
      return resumePage(view, context)
    case 'backup-codes':
      return backupCodesPage(view, context)
    case 'backup-codes-gone':
      return backupCodesGonePage(view, context)
    case 'devices':
      return devicesPage(view, context)
    case 'not-me':
      return notMePage(view, context)
    case 'secured':
      return securedPage(context)
    case 'bypass':
      return bypassPage(context)
    case 'recover':
      return recoverPage(view, context)
    case 'recovery':
      return recoveryPage(view, context)
    case 'cancel-recovery':
      return cancelRecoveryPage(view, context)
    case 'recovery-canceled':
      return recoveryCanceledPage(context)
    case 'stop':
      return stopPage(view, context)
  }
}
