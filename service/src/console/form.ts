import { randomBytes } from 'node:crypto'
import { type Html, html } from '../html.js'
import { OperatorError } from '../operator/audited-change.js'
import { consoleCounters } from '../operator/console-counters.js'
import { DAY_MS } from '../time.js'
import type { Form, PageMessage, PageRequest } from './page.js'

/** Reads a parsed body. Values that are not text count as missing (R81). */
export function readForm(body: unknown): Form {
  const fields = new Map(Object.entries(Object(body)))
  const getExact = (name: string) => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : ''
  }
  return {
    exact: getExact,
    text: (name) => getExact(name).trim(),
    all(name) {
      const value = fields.get(name)
      const values = Array.isArray(value) ? value : [value]
      return values.filter((item): item is string => typeof item === 'string')
    },
  }
}

/** A field that makes a form count once: loading the page that follows it again posts it again. */
export function createOnceField(): Html {
  return html`<input type="hidden" name="once" value="${randomBytes(12).toString('base64url')}">`
}

/** The message about a form with `createOnceField` that was posted before, with this hint; `undefined` for the first time. */
export async function refuseRepeated(
  { form, parts, account }: PageRequest,
  hint: string,
): Promise<PageMessage | undefined> {
  const key = `form:${account.email.slice(0, 100)}:${form.text('once').slice(0, 64)}`
  const count = await consoleCounters(parts.store).add(key, DAY_MS)
  return count > 1 ? { tone: 'error', text: `This form was sent already. ${hint}` } : undefined
}

/** Reads something. Where the operator must correct the request, `found` is `otherwise`, by default `undefined`, and the page says why. */
export async function attemptToFind<Found, Otherwise = undefined>(
  read: () => Promise<Found>,
  otherwise = undefined as Otherwise,
): Promise<
  | { readonly found: Found; readonly message?: undefined }
  | { readonly found: Otherwise; readonly message: PageMessage }
> {
  try {
    return { found: await read() }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error
    return { found: otherwise, message: { tone: 'error', text: error.message } }
  }
}

/** Runs a change, and returns what the page says about it: `done`, which may depend on its result, or what the operator must correct. */
export async function attempt<T>(
  work: () => Promise<T>,
  done: string | ((result: T) => string),
): Promise<PageMessage> {
  const change = async () => {
    const result = await work()
    return typeof done === 'string' ? done : done(result)
  }
  const { found: text, message } = await attemptToFind(change, '')
  return message ?? { tone: 'success', text }
}

/** Reads something that may not exist: then there is no such page, and `text` says so. */
export async function readOrNotFound<T>(read: () => Promise<T>, text: string): Promise<T> {
  try {
    return await read()
  } catch (error) {
    throw error instanceof OperatorError ? new ConsoleError(404, text) : error
  }
}

/** A request that the console refuses. Its message is shown on a page. */
export class ConsoleError extends Error {
  /** The HTTP status. */
  readonly status: 400 | 403 | 404 | 405 | 429

  constructor(status: ConsoleError['status'], message: string) {
    super(message)
    this.name = 'ConsoleError'
    this.status = status
  }
}
