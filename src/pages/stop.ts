import { countdown } from './delivery-line.js'
import { type Html, html, safeLink } from './html.js'
import { entryList, problemText } from './layout.js'
import { type Page, type PageContext, startPath } from './page.js'
import { recoverLink } from './recovery.js'
import { fill } from './text.js'
import type { ViewOf } from './view.js'

/** A page on which the user cannot continue: says what happened and what to do, with a link to the next step. */
export function stopPage(view: ViewOf<'stop'>, context: PageContext): Page {
  const { message } = view
  if (message.tone === 'success') {
    const title = html`${context.words.success[message.code]}`
    const lead = view.isPageLost === true && html`<p class="mfa-lead">${context.words.pageLost}</p>`
    return { title, leadsHome: true, main: html`${lead}${nextStepLink(view, context)}` }
  }
  const { title, advice } = problemText(message, context)
  const { unavailable } = context.words
  const isUnavailable = view.unasked === true && message.code === 'service_unavailable'
  return {
    title: view.unasked === true ? html`${unavailable.title}` : title,
    error: true,
    leadsHome: findNext(view, context) === 'home',
    main: html`${adviceCountdown(view, context) ?? html`<p class="mfa-lead">${isUnavailable ? unavailable.advice : advice}</p>`}
${message.code === 'factors_withheld' && renderWayBack(context)}
${nextStepLink(view, context)}`,
  }
}

/** The ways left to a user whose factors cannot be used: the host's help text, and a recovery. */
function renderWayBack(context: PageContext): Html {
  const { help } = context.frame
  return html`${help !== undefined && html`<p class="mfa-help">${help}</p>`}
${recoverLink(context)}`
}

/** The advice as a countdown, if it contains a time to wait for. */
function adviceCountdown({ message }: ViewOf<'stop'>, context: PageContext): Html | undefined {
  const { frame, words } = context
  if (message.tone === 'success' || message.retryAfterSeconds === undefined) return undefined
  const { advice } = words.problems[message.code]
  if (!advice.includes('{in}')) return undefined
  const phrase = advice.replaceAll('{app}', () => frame.appName)
  return countdown(
    { seconds: message.retryAfterSeconds, phrase, ready: words.stopReady, isLead: true },
    context,
  )
}

/** Where the page leads: home, if nothing else is said and its end has no link. */
function findNext({ next }: ViewOf<'stop'>, { frame }: PageContext): ViewOf<'stop'>['next'] {
  return next ?? (frame.purpose === 'sign-in' && frame.pendingLoginEndsAt === undefined ? 'home' : undefined)
}

function nextStepLink(view: ViewOf<'stop'>, context: PageContext): Html | undefined {
  const { frame, words } = context
  const { message } = view
  const next = findNext(view, context)
  if (next === undefined) return undefined
  if (next === 'own-account') {
    return html`<form class="mfa-form" method="post" action="${frame.base}/cancel"><button class="mfa-primary">${words.stop[next]}</button></form>`
  }
  const paths = {
    'sign-in': safeLink(frame.signInPath),
    retry: startPath(frame),
    home: safeLink(frame.homePath),
  }
  // The user can try again before the wait is over, but should not.
  const style =
    message.tone === 'error' && message.retryAfterSeconds !== undefined ? 'mfa-secondary' : 'mfa-primary'
  const retry = next === 'retry' && html` data-mfa-retry`
  return html`<div class="mfa-actions"${retry}><a class="${style}" href="${paths[next]}">${fill(words.stop[next], { app: frame.appName })}</a></div>`
}

/** Offers to submit a form again that was interrupted by the second factor. Its script does so, if the user has just approved it. */
export function resumePage(view: ViewOf<'resume'>, context: PageContext): Page {
  const { resume } = context.words
  const { approved, entries } = view
  return {
    title: html`${approved ? resume.approved : (view.title ?? resume.title)}`,
    approved,
    main: html`${!approved && html`<p class="mfa-lead">${resume.lead}</p>`}
${
  entries.length > 0 &&
  entryList(
    entries.map(({ label, value }) => ({
      label,
      value: value === undefined ? html`<span class="mfa-hint">${resume.hidden}</span>` : value || '–',
    })),
  )
}
<form class="mfa-form" method="post" action="${safeLink(view.action)}"${view.sends === true && html` data-mfa-send`}>${Object.entries(
      view.fields,
    ).map(
      ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
    )}<button class="mfa-primary">${resume.send}</button></form>`,
  }
}
