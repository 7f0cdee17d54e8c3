import { languageTag, pickLocale } from '../../protocol/language.js'
import { pickGiven } from '../../shape.js'
import type { Catalogue, TextsLike } from '../locales/catalogue.js'
import { en as englishPages } from '../locales/en.js'
import { loadTexts, type TextsByLanguage } from '../text.js'
import { en } from './locales/en.js'
import type { AccountNotice, ContactNoticeType, NoticeFacts, NoticeType } from './notice.js'

/**
 * The texts of the account notices in one language, by the names of the English ones. `{app}` is the app's name, `{factor}` a factor
 * with its masked contact, `{ready}` when a recovery can be completed.
 */
export interface NoticeCatalogue extends TextsLike<typeof en> {}

/** The built-in languages of the notices, the same as of the pages. */
export const noticeCatalogues: TextsByLanguage<NoticeCatalogue> = loadTexts('notices', en)

/** The texts that a notice needs in one language. */
type NoticeTexts = Pick<Catalogue, 'overview'> & { readonly notices?: NoticeCatalogue }

/** The languages of an app. Those without notices are not used for notices. */
type NoticeLanguages = TextsByLanguage<NoticeTexts>

/** Everything that a notice is composed of. */
export interface NoticeContent {
  readonly facts: NoticeFacts
  readonly appName: string
  readonly notMeUrl?: string
  readonly cancelUrl?: string
  readonly languages: NoticeLanguages
}

/** Composes a notice in the language that matches best; `inLanguage` gives it in another one. */
export function composeNotice(content: NoticeContent, preferred: readonly string[]): AccountNotice {
  const { facts, notMeUrl, cancelUrl } = content
  return {
    ...facts,
    ...composeInPreferred(content, preferred),
    ...pickGiven({ notMeUrl, cancelUrl }),
    inLanguage: (tag) => composeInPreferred(content, [tag]),
  }
}

function composeInPreferred(content: NoticeContent, preferred: readonly string[]) {
  const { facts, appName, cancelUrl, languages } = content
  const hasNotices = (key: string) => languages.get(key)?.().notices !== undefined
  const key = pickLocale(preferred, { has: hasNotices })
  const locale = languageTag(key)
  const { notices: texts = en, overview } = languages.get(key)?.() ?? { overview: englishPages.overview }
  const detail = facts.keyName ?? facts.to
  const factor = facts.method && `${overview.method[facts.method]}${detail ? ` (${detail})` : ''}`
  const ready = facts.readyAt === undefined ? '' : formatTime(locale, facts.readyAt)
  const fillIn = (phrase: string) => fillPhrase(phrase, { app: appName, factor: factor ?? '', ready })
  const circumstances = [
    fillPhrase(texts.when, { value: formatTime(locale, facts.at) }),
    facts.browser && fillPhrase(texts.browser, { value: facts.browser }),
    facts.address && fillPhrase(texts.address, { value: facts.address }),
    facts.location && fillPhrase(texts.location, { value: facts.location }),
  ]
  const parts = [
    fillIn(texts.what[facts.type]),
    circumstances.filter(Boolean).join('\n'),
    helpIn(texts, content).map(fillIn).join('\n'),
  ]
  const shortText = isToEveryContact(facts.type) && fillIn(texts.short[facts.type])
  return {
    locale,
    subject: fillIn(texts.subject[facts.type]),
    text: `${parts.join('\n\n')}\n`,
    ...(shortText && { shortText: cancelUrl ? `${shortText} ${cancelUrl}` : shortText }),
  }
}

/** The advice to the user, a line each. */
function helpIn(texts: NoticeCatalogue, { facts, notMeUrl, cancelUrl }: NoticeContent): readonly string[] {
  if (facts.type === 'account_secured') return [texts.thenPassword]
  if (cancelUrl) return [texts.cancel, cancelUrl, texts.thenPassword]
  if (notMeUrl) return [texts.fine, texts.notYou, notMeUrl, texts.thenPassword]
  return [texts.fine, texts.notYouHere]
}

function isToEveryContact(type: NoticeType): type is ContactNoticeType {
  return type.startsWith('recovery_') || type === 'account_reset' || type === 'stronger_factor_required'
}

// Line breaks are removed, since a value with a line break could look like a part of the notice.
function fillPhrase(phrase: string, values: Readonly<Record<string, string>>): string {
  return phrase.replace(/\{(\w+)\}/g, (whole, name: string) =>
    (values[name] ?? whole).replace(/[\p{Cc}\u2028\u2029]+/gu, ' '),
  )
}

function formatTime(locale: string, at: number): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })
  return `${format.format(at)} UTC`
}
