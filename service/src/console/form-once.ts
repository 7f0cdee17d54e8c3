import { randomBytes } from 'node:crypto'
import { type Html, html } from '../http/html-page.js'
import { consoleCounters } from '../operator/console-counters.js'
import type { PageRequest } from './page.js'

const DAY_MS = 86_400_000

/** A field that makes a form count once: loading the page that follows it again posts it again. */
export function onceField(): Html {
  return html`<input type="hidden" name="once" value="${randomBytes(12).toString('base64url')}">`
}

/** Whether a form with `onceField` was posted before. */
export async function wasPosted({ form, parts, account }: PageRequest): Promise<boolean> {
  const key = `form:${account.email.slice(0, 100)}:${form.text('once').slice(0, 64)}`
  const { count } = await consoleCounters(parts.store).add(key, 1, DAY_MS)
  return count > 1
}
