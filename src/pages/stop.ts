import { linkTo } from './address.js'
import { countdown } from './countdown.js'
import { type Html, html } from './html.js'
import { type Page, type PageContext, startPath } from './page.js'
import { problemText } from './page-message.js'
import { fill } from './text.js'
import type { View } from './view.js'

type StopView = Extract<View, { page: 'stop' }>

/** Nothing can go on here: what happened, what to do, and one way on. */
export function stopPage(view: StopView, context: PageContext): Page {
  const { message } = view
  if (message.tone === 'success') {
    const title = html`${context.words.success[message.code]}`
    return { title, main: html`${wayOn(view, context)}` }
  }
  const { title, advice } = problemText(message, context)
  return {
    title,
    error: true,
    leadsHome: view.next === 'home',
    main: html`${waiting(view, context) ?? html`<p class="mfa-lead">${advice}</p>`}
${wayOn(view, context)}`,
  }
}

/** The same advice as a countdown, if there is an end to wait for. */
function waiting({ message }: StopView, context: PageContext): Html | undefined {
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

function wayOn({ next, message }: StopView, context: PageContext): Html | undefined {
  const { frame, words } = context
  if (next === undefined) return undefined
  const paths = { 'sign-in': linkTo(frame.signInPath), retry: startPath(frame), home: linkTo(frame.homePath) }
  // Trying again before the time has come is possible, but not what the page asks for.
  const style =
    message.tone === 'error' && message.retryAfterSeconds !== undefined ? 'mfa-secondary' : 'mfa-primary'
  return html`<div class="mfa-actions"><a class="${style}" href="${paths[next]}">${fill(words.stop[next], { app: frame.appName })}</a></div>`
}
