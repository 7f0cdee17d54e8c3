import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { DetailLine } from '../protocol/details.js'
import type { Strength } from '../protocol/factor.js'
import { languageKey, memoize } from '../protocol/language.js'
import type { KeyMethod } from '../protocol/methods.js'
import { countdown } from './delivery-line.js'
import { type Html, html, type Renderable, removeTags, safeLink } from './html.js'
import { icons } from './icons.js'
import { keyFaultText } from './key-failure.js'
import { type Page, type PageContext, startPath } from './page.js'
import { fill, type Languages, pickText } from './text.js'
import type { PageFrame, PageMessage } from './view.js'

/** A file that the pages link to. */
interface Asset {
  /** Its `Content-Type`. */
  readonly type: string
  readonly body: string
  /** A hash of the content. A URL that contains it can be cached forever. */
  readonly version: string
}

/** The name of a file that the pages load. */
export type AssetName = 'mfa.css' | 'mfa.js' | 'mfa-keys.js'

const BUNDLED =
  'If your app is bundled, leave the packages out: --external:countersign --external:@countersign/service --external:passport for esbuild.'

/** The style sheet and the scripts of the pages, at `{base}/assets/`. The build writes `mfa-keys.js`. */
export const assets: Readonly<Record<AssetName, Asset>> = {
  'mfa.css': createAsset('assets/mfa.css', 'text/css; charset=utf-8'),
  'mfa.js': createAsset('assets/mfa.js', 'text/javascript; charset=utf-8'),
  'mfa-keys.js': createAsset('dist/pages/mfa-keys.js', 'text/javascript; charset=utf-8'),
}

function createAsset(path: string, type: string): Asset {
  // src/pages and dist/cjs lie equally deep below the package.
  const file = new URL(`../../${path}`, import.meta.url)
  if (!existsSync(file)) throw new Error(`countersign has no ${path} beside its code. ${BUNDLED}`)
  const body = readFileSync(file, 'utf8')
  return { type, body, version: createHash('sha256').update(body).digest('base64url').slice(0, 10) }
}

/** The HTML document around a page. It has no inline scripts or styles, so that it works under a strict CSP. */
export function renderLayout(page: Page, context: PageContext): Html {
  const { frame, text, words } = context
  const isError = page.error === true || frame.message?.tone === 'error'
  const title = fill(isError ? words.documentTitleError : words.documentTitle, {
    page: removeTags(page.title),
    app: frame.appName,
  })
  return html`<!doctype html>
<html lang="${text.locale}" dir="${words.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title}</title>
${frame.logo !== undefined && html`<link rel="icon" href="${safeLink(frame.logo)}">`}
<link rel="stylesheet" href="${frame.base}/assets/mfa.css?v=${assets['mfa.css'].version}">
${frame.stylesheet !== undefined && html`<link rel="stylesheet" href="${safeLink(frame.stylesheet)}">`}
<script type="module" src="${frame.base}/assets/mfa.js?v=${assets['mfa.js'].version}"></script>
${page.usesKeys === true && html`<script type="module" src="${frame.base}/assets/mfa-keys.js?v=${assets['mfa-keys.js'].version}"></script>`}
</head>
<body>
<header class="mfa-top">${mark(frame)}<span class="mfa-app"><bdi>${frame.appName}</bdi></span>${frame.accountName !== undefined && html`<span class="mfa-account"><bdi>${frame.accountName}</bdi></span>`}</header>
<main class="mfa-card">
${renderHeading(page, context)}
${messageBox(context)}${page.main}
</main>
${pageFooter(page, context)}
<p class="mfa-unseen" role="status" data-mfa-live></p>
</body>
</html>
`
}

/** A longer value than this is not shown in the largest letters, which would push the code field off a phone. */
const MAX_LARGE_VALUE = 28

/** The act that the user approves or has approved, before all else: the first line is the heading, the others stand whole below (R121, R123). */
function renderHeading({ title, approved }: Page, { frame, words }: PageContext): Html {
  const lines = frame.approval?.lines ?? approved
  if (!lines) return html`<h1>${title}</h1>`
  const [act, ...others] = lines
  const size = (act?.value.length ?? 0) > MAX_LARGE_VALUE ? ' mfa-act-long' : ''
  return html`<section class="mfa-approval"><p class="mfa-lead">${words.approval[approved ? 'given' : 'lead']}</p>
<h1><bdi class="mfa-act">${act?.label}</bdi> <bdi class="mfa-act-value${size}">${act?.value}</bdi></h1>
${others.length > 0 && entryList(others)}</section>
<h2>${title}</h2>`
}

/** Labels with their values, each isolated from the direction of the text around it. */
export function entryList(entries: readonly { readonly label: string; readonly value: Renderable }[]): Html {
  return html`<dl class="mfa-entries">${entries.map(
    ({ label, value }) => html`<div><dt><bdi>${label}</bdi></dt><dd><bdi>${value}</bdi></dd></div>`,
  )}</dl>`
}

/** The hidden field by which a form says what its page asked the user to approve. */
export function approvalField({ frame: { approval } }: PageContext): Html | undefined {
  return approval && html`<input type="hidden" name="approval" value="${approval.id}">`
}

/** Decorative: the name stands beside it. */
function mark({ appName, logo }: PageFrame): Html {
  if (logo !== undefined) return html`<img class="mfa-logo" src="${safeLink(logo)}" alt="" height="32">`
  return html`<span class="mfa-mark" aria-hidden="true">${initial(appName)}</span>`
}

const characters = new Intl.Segmenter()

/** The first character of the app's name, which is found once. */
const initial = memoize((name: string) => {
  const [first] = characters.segment(name.trim())
  return first?.segment.toLocaleUpperCase() ?? ''
})

/** The id of the page message; the code field refers to it. */
export const MESSAGE_ID = 'mfa-message'

/** The text that the page says once, before all else. */
function messageBox(context: PageContext): Html | undefined {
  const { message } = context.frame
  if (message === undefined) return undefined
  if (message.tone === 'success') {
    return html`<div class="mfa-message mfa-message-success" id="${MESSAGE_ID}" role="status">${icons.done}<p>${context.words.success[message.code]}</p></div>`
  }
  if (message.tone === 'note') {
    const { title, advice } = context.words.problems[message.code]
    return html`<div class="mfa-message" id="${MESSAGE_ID}" role="status"><div><p><strong>${title}</strong></p><p>${fill(advice, { app: context.frame.appName })}</p></div></div>`
  }
  const { title, advice } = problemText(message, context)
  return errorBox(title, advice)
}

/** The box of an error: what happened, and what to do now. */
export function errorBox(title: Html, advice: Html): Html {
  return html`<div class="mfa-message mfa-message-error" id="${MESSAGE_ID}" role="alert">${icons.error}<div><p><strong>${title}</strong></p><p>${advice}</p></div></div>`
}

/** A problem in words: what happened, what to do now, and how many attempts are left. */
export function problemText(message: Extract<PageMessage, { tone: 'error' }>, context: PageContext) {
  const { words, text, frame, asksForAppCode } = context
  const isUsedPerhaps = asksForAppCode && message.code === 'invalid_code'
  const { title, advice } = isUsedPerhaps ? words.code.invalidApp : words.problems[message.code]
  const values = { app: frame.appName, in: text.inTime(message.retryAfterSeconds) }
  const attemptsLeft =
    message.attemptsLeft !== undefined && html` ${text.count(words.attemptsLeft, message.attemptsLeft)}`
  if (message.fault !== undefined) {
    const fault = keyFaultText(message.fault, context)
    return { title: fault.title, advice: html`${fault.advice}${attemptsLeft}` }
  }
  return {
    title: fill(title, values),
    advice: html`${fill(advice, values)}${message.field !== undefined && html`<br><strong><bdi>${message.field}</bdi></strong>`}${clockAdvice(message.clockSteps, context)}${attemptsLeft}`,
  }
}

// A user who types slowly may submit the previous code. An older one means that the clock of the app is slow.
const TYPING_STEPS = 2

function clockAdvice(clockSteps: number | undefined, { words, text }: PageContext): Html | undefined {
  if (clockSteps === undefined || clockSteps >= -TYPING_STEPS) return undefined
  const minutes = Math.round(-clockSteps / 2)
  return html` ${fill(words.clockSlow, { time: text.lengthOf(minutes * 60_000) })}`
}

/** The footer of every page: the end of the pending login, a link to leave the page, and the languages. */
function pageFooter(page: Page, context: PageContext): Html {
  const { frame, words } = context
  return html`<footer class="mfa-leave">${[page.error !== true && pendingLoginEnd(context, page.asksForCode), leaveLink(), languageSwitch(context)]}</footer>`

  function leaveLink(): Renderable {
    if (frame.purpose === 'sign-in') {
      // The user is signed in (an app was set up during a pending login), so there is nothing to cancel.
      if (frame.pendingLoginEndsAt === undefined) return undefined
      return html`<form method="post" action="${frame.base}/cancel"><button class="mfa-link">${words.leave.cancel}</button></form>`
    }
    if (page.leadsHome === true) return undefined
    if (frame.approval !== undefined) {
      return html`<form method="post" action="${frame.base}/cancel">${approvalField(context)}<button class="mfa-link">${words.approval.refuse}</button></form>`
    }
    const label = frame.purpose === 'step-up' ? words.leave.notNow : words.leave.back
    return html`<a class="mfa-link" href="${safeLink(frame.homePath)}">${fill(label, { app: frame.appName })}</a>`
  }
}

function pendingLoginEnd(context: PageContext, asksForCode = false): Renderable {
  const { frame, words } = context
  if (frame.pendingLoginEndsAt === undefined || frame.purpose !== 'sign-in') return undefined
  const seconds = Math.max(0, (frame.pendingLoginEndsAt - frame.now) / 1000)
  const line = { seconds, phrase: words.leave.ends, leadsTo: startPath(frame), warns: true }
  return countdown({ ...line, isLate: asksForCode }, context)
}

/** A menu with a button for each language, labeled in that language. The current one is marked. It needs no script. */
function languageSwitch({ frame, text, words }: PageContext): Html | undefined {
  const { languages } = frame
  if (languages === undefined) return undefined
  const buttons = languages.offer.map((tag) => {
    const current = languageKey(tag) === languageKey(text.locale) && html` aria-current="true"`
    return html`<li><button class="mfa-link" name="language" value="${tag}" lang="${tag}"${current}>${nameOf(tag)}</button></li>`
  })
  return html`<details class="mfa-languages"><summary>${icons.language}<span><span class="mfa-unseen">${words.language}: </span>${nameOf(text.locale)}</span></summary>
<form method="post" action="${frame.base}/language" aria-label="${words.language}"><input type="hidden" name="back" value="${languages.back}"><ul>${buttons}</ul></form></details>`
}

/** The name of a language in that language, capitalized. */
const nameOf = memoize((tag: string) => {
  const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag
  const [first = ''] = name
  return first.toLocaleUpperCase(tag) + name.slice(first.length)
})

/** The line in which a user is shown a change of the sign-in options to approve. */
export function changeLine(
  preferredLanguages: readonly string[],
  change: 'app' | KeyMethod | 'backup_codes',
  languages: Languages,
): DetailLine {
  const { words } = pickText(preferredLanguages, languages)
  const { overview, keys, approval } = words
  const value = change === 'app' || change === 'backup_codes' ? approval.change[change] : keys.add[change]
  return { label: overview.title, value }
}

/** Plain text for the host's pages: a day (UTC) to set up a second factor by, or an app to set up again. */
export function hostBanner(
  preferredLanguages: readonly string[],
  about: { readonly until: number; readonly minStrength?: Strength | undefined } | 'weak_app',
  languages: Languages,
): string {
  const { words, dateOf } = pickText(preferredLanguages, languages)
  if (about === 'weak_app') return words.weakApp
  const { until, minStrength } = about
  const text = minStrength
    ? words.graceFor[minStrength === 'phishing-resistant' ? 'key' : 'stronger']
    : words.grace
  return text.replaceAll('{date}', () => dateOf(until))
}
