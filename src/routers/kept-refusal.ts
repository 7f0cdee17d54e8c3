import { PROBLEM_CODES } from '../http/problem.js'
import type { PageMessage } from '../pages/view.js'
import { requestedUrl } from '../session/return-to.js'
import { sessionEnded, storeIfCurrent } from '../session/store.js'
import type { RouteContext } from './context.js'

type ErrorMessage = Extract<PageMessage, { tone: 'error' }>

/**
 * Redirects to a page that says why a form was refused. Loading that page again posts nothing, so it consumes no attempt and
 * sends no message (POST, redirect, GET). `page` is a path below the routers.
 * @throws {SessionEndedError} when the session ended in the meantime.
 */
export async function redirectRefused(
  { req, res, deps, state }: RouteContext,
  page: string,
  { code, attemptsLeft, clockSteps, fault, retryAfterSeconds }: Omit<ErrorMessage, 'tone'>,
  trust = false,
): Promise<void> {
  const path = `${deps.settings.path}${page}${page.includes('?') ? '&' : '?'}refused`
  const refused = {
    path,
    at: Date.now(),
    code,
    ...(attemptsLeft !== undefined && { attemptsLeft }),
    ...(clockSteps !== undefined && { clockSteps }),
    ...(fault && { fault }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(trust && { trust }),
  }
  if (!(await storeIfCurrent(req, { ...state.record, refused }))) throw sessionEnded()
  res.redirect(303, path)
}

/** The refusal that brought the user to this page, with the wait that is left; `undefined` when there is none any more. */
export function keptRefusal({ req, deps, state }: RouteContext): ErrorMessage | undefined {
  const { refused } = state.record
  if (!refused || refused.path !== requestedUrl(req, deps.settings)) return undefined
  const { at, attemptsLeft, clockSteps, fault, retryAfterSeconds } = refused
  const code = PROBLEM_CODES.find((known) => known === refused.code)
  if (code === undefined) return undefined
  const message = {
    tone: 'error',
    code,
    ...(attemptsLeft !== undefined && { attemptsLeft }),
    ...(clockSteps !== undefined && { clockSteps }),
    ...(fault && { fault }),
  } as const
  if (retryAfterSeconds === undefined) return message
  const left = Math.ceil(retryAfterSeconds - (Date.now() - at) / 1000)
  return left > 0 ? { ...message, retryAfterSeconds: left } : undefined
}
