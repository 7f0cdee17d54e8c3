import type { KeyProblem } from './request.js'

/** The app's refusal of a request that needs a second factor (RFC 9457), with all its members. */
export interface StepUpProblem extends KeyProblem {
  /** `mfa_required` during sign-in, `step_up_required` if a fresh factor is needed. */
  readonly code: 'mfa_required' | 'step_up_required'
  /** Other members of the response, such as `factors`. */
  readonly [member: string]: unknown
}

/**
 * Why a request could not be repeated. `canceled`: the user left the page without showing a factor. `failed`: the account is
 * locked, or the request needs more than the factor that was shown. `expired`: the session or the pending login ended, or the page was
 * open for 15 minutes. `blocked`: the browser opened no window, or `open` returned one that is not new. `unrepeatable`: the body is a
 * stream, which cannot be sent twice.
 */
export type StepUpFailure = 'canceled' | 'failed' | 'expired' | 'blocked' | 'unrepeatable'

/** The second factor was not shown, so the request was refused. */
export class StepUpError extends Error {
  /** The name of the class. */
  override readonly name = 'StepUpError'
  /** Why, as a code for which you have a text. */
  readonly reason: StepUpFailure
  /** The refusal for which the page was opened. */
  readonly problem: StepUpProblem
  /** How long the account is locked, in seconds. Absent if it is not. */
  readonly retryAfterSeconds?: number

  constructor(reason: StepUpFailure, problem: StepUpProblem, retryAfterSeconds?: number) {
    super(`The second factor was not shown: ${reason}.`)
    this.reason = reason
    this.problem = problem
    if (retryAfterSeconds !== undefined) this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The options of `withStepUp`. */
export interface StepUpOptions {
  /** The path of the MFA pages, `urls.path` of the app. Defaults to `/mfa`. */
  readonly base?: string
  /**
   * Opens the page in a new window. Defaults to a pop-up. Browsers block a pop-up that opens more than a few seconds after a click: to be sure, or to
   * show what `problem` says first, ask in a dialog of your own, and call `window.open` when the user agrees.
   */
  readonly open?: (address: string, problem: StepUpProblem) => Window | null | Promise<Window | null>
}

const REQUIRED: ReadonlySet<unknown> = new Set(['mfa_required', 'step_up_required'])
/** Longer than a pending login lasts. */
const MAX_OPEN_MS = 15 * 60_000

const ENDED: ReadonlySet<unknown> = new Set(['sign_in_required', 'pending_login_expired', 'session_ended'])

/**
 * A `fetch` that asks for the second factor. If a request to this site is refused as `mfa_required` or `step_up_required`, it opens the
 * app's MFA page, waits until the user has shown a factor there, and repeats the request once. Any other response is returned as it
 * is. The returned function rejects with a `StepUpError` if the factor was not shown. The request is copied before it is sent; a body that
 * is a stream is sent once.
 */
export function withStepUp(
  fetch: typeof globalThis.fetch = globalThis.fetch.bind(globalThis),
  { base = '/mfa', open = openPopUp }: StepUpOptions = {},
): typeof globalThis.fetch {
  // Requests that are refused while the page is open wait for the same page.
  let shared: { readonly shown: Promise<void>; readonly waiting: Set<unknown> } | undefined

  async function show(problem: StepUpProblem, address: URL, waiting: ReadonlySet<unknown>): Promise<void> {
    const page = await open(address.href, problem)
    if (!page || !isNew(page)) throw new StepUpError('blocked', problem)
    const isLeft = waitUntilLeft(page, [base, address.pathname], waiting).finally(() => page.close())
    if (!(await isLeft)) throw new StepUpError('expired', problem)
  }

  /** Waits for the page, which is closed when every request that waits for it was aborted. */
  async function waitForFactor(problem: StepUpProblem, address: URL, signal: AbortSignal): Promise<void> {
    if (!shared) {
      const waiting = new Set<unknown>()
      // Firefox handles other responses while it opens a window, so `shared` is set before that.
      const shown = Promise.resolve()
        .then(() => show(problem, address, waiting))
        .finally(() => {
          shared = undefined
        })
      shared = { shown, waiting }
    }
    const { shown, waiting } = shared
    const request = {}
    waiting.add(request)
    const aborted = new Promise<never>((_resolve, reject) => {
      const abort = () => reject(signal.reason)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
    })
    await Promise.race([shown, aborted]).finally(() => waiting.delete(request))
  }

  return async function fetchWithStepUp(input, init) {
    const isStream = init?.body instanceof ReadableStream
    // The app may change what it passed while the page is open.
    const request = isStream ? undefined : new Request(input, init)
    const response = await (request ? fetch(request.clone()) : fetch(input, init))
    const problem = await readProblem(response)
    const address = findAddress(problem)
    if (!address || !isRequired(problem)) return response
    if (!request) throw new StepUpError('unrepeatable', problem)
    await waitForFactor(problem, address, request.signal)
    const second = await fetch(request)
    const { code } = await readProblem(second)
    if (ENDED.has(code)) throw new StepUpError('expired', problem)
    if (!REQUIRED.has(code)) return second
    const status = await fetch(base, { headers: { accept: 'application/json' } })
    const { retryAfterSeconds } = await readJson(status)
    const failed = retryAfterSeconds !== undefined || code !== problem.code
    throw new StepUpError(failed ? 'failed' : 'canceled', problem, retryAfterSeconds as number | undefined)
  }
}

type Json = Readonly<Record<string, unknown>>

/** The refusal of a request to this site; an empty object for any other response. */
async function readProblem(response: Response): Promise<Json> {
  const { origin } = new URL(response.url, location.href)
  return response.status === 401 && origin === location.origin ? readJson(response.clone()) : {}
}

async function readJson(response: Response): Promise<Json> {
  const body: unknown = await response.json().catch(() => undefined)
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

function isRequired(problem: object): problem is StepUpProblem {
  return 'code' in problem && REQUIRED.has(problem.code)
}

/** Where the user shows the factor. Only a page of this site is opened, whatever a response says. */
function findAddress({ next }: Json): URL | undefined {
  if (typeof next !== 'string' || !URL.canParse(next, location.href)) return undefined
  const address = new URL(next, location.href)
  // `blob:` and `filesystem:` have the origin of this site, too.
  return address.origin === location.origin && address.protocol === location.protocol ? address : undefined
}

function openPopUp(address: string): Window | null {
  // By a name, another site's frame or tab could be found that calls itself so.
  return open(address, '_blank', 'popup,width=480,height=720')
}

/** Whether this page opened a window: no frame, not the one of this page, and none of another site that has the name. */
function isNew(page: Window): boolean {
  return page !== window && page === page.top && page !== opener && [null, window].includes(page.opener)
}

/**
 * Waits until the window was closed or is at a page of the app, or no request waits for it. Nothing that a page could send is trusted.
 * Returns `false` when that takes too long.
 */
async function waitUntilLeft(
  page: Window,
  paths: readonly string[],
  waiting: ReadonlySet<unknown>,
): Promise<boolean> {
  const endsAt = Date.now() + MAX_OPEN_MS
  // A window that is cut off from this one, as by Cross-Origin-Opener-Policy, reads as closed. While it is in use, this page has no focus.
  while (!(page.closed ? document.hasFocus() : shows(page, paths))) {
    if (waiting.size === 0) return true
    if (Date.now() > endsAt) return false
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  return true
}

/** Whether a window shows a page of this site that is not below one of these paths. */
function shows(page: Window, paths: readonly string[]): boolean {
  try {
    const { protocol, pathname } = page.location
    return protocol.startsWith('http') && !paths.some((path) => `${pathname}/`.startsWith(`${path}/`))
  } catch {
    // A page of another site, such as an identity provider.
    return false
  }
}
