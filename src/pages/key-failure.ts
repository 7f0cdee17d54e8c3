import { failureOfFault, KEY_FAILURES } from '../protocol/key-failure.js'
import type { KeyFault } from '../protocol/keys.js'
import { type Html, html } from './html.js'
import type { PageContext } from './page.js'
import { fill } from './text.js'

/** What a page can say about a key: also that the app could not be reached. */
const FAILURES = [...KEY_FAILURES, 'offline'] as const

/** What the service found wrong with a key, in words. */
export function keyFaultText(fault: KeyFault, context: PageContext) {
  return failureText(failureOfFault(fault), context)
}

/** Each failure that the script of the page may find, for it to show. */
export function failureTemplates(box: (title: Html, advice: Html) => Html, context: PageContext): Html {
  const templates = FAILURES.map((failure) => {
    const { title, advice } = failureText(failure, context)
    return html`<template data-mfa-failure="${failure}">${box(title, advice)}</template>`
  })
  return html`${templates}`
}

function failureText(failure: (typeof FAILURES)[number], { frame, words }: PageContext) {
  const { title, advice } = words.keys.failures[failure]
  return { title: html`${title}`, advice: fill(advice, { app: frame.appName }) }
}
