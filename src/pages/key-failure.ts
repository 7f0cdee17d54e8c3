import { failureOfFault, KEY_FAILURES, type KeyFault } from '../protocol/keys.js'
import { type Html, html, safeLink } from './html.js'
import { type PageContext, SIGNS_IN_NEXT } from './page.js'
import { fill } from './text.js'
import type { ProblemCode } from './view.js'

/** The faults of a key that a page can name: also that the app could not be reached. */
const FAILURES = [...KEY_FAILURES, 'offline'] as const

/** The faults that the service found with a key, in words. */
export function keyFaultText(fault: KeyFault, context: PageContext) {
  return failureText(failureOfFault(fault), context)
}

/** Each failure that the script of the page may find, and each refusal of the app, for it to show. */
export function failureTemplates(box: (title: Html, advice: Html) => Html, context: PageContext): Html {
  const templates = FAILURES.map((failure) => {
    const { title, advice } = failureText(failure, context)
    return html`<template data-mfa-failure="${failure}">${box(title, advice)}</template>`
  })
  return html`${templates}${Object.keys(context.words.problems).map((code) => problemTemplate(code as ProblemCode, context))}`
}

/** The texts of the script about a refusal of the app. The script fills in the time to wait from the refusal. */
function problemTemplate(code: ProblemCode, { frame, words }: PageContext): Html {
  const { title, advice } = words.problems[code]
  const values = { app: frame.appName, in: html`<span data-mfa-in>${words.later}</span>` }
  const signIn =
    SIGNS_IN_NEXT.has(code) &&
    html`<p><a class="mfa-link" href="${safeLink(frame.signInPath)}">${words.stop['sign-in']}</a></p>`
  return html`<template data-mfa-problem="${code}"><p><strong>${fill(title, values)}</strong></p><p>${fill(advice, values)}</p>${signIn}</template>`
}

function failureText(failure: (typeof FAILURES)[number], { frame, words }: PageContext) {
  const { title, advice } = words.keys.failures[failure]
  return { title: html`${title}`, advice: fill(advice, { app: frame.appName }) }
}
