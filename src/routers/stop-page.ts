import type { Request, Response } from 'express'
import type { RouteDeps } from '../actions/deps.js'
import { setRetryAfter } from '../http/headers.js'
import { localesOf } from '../http/locale.js'
import { type Problem, sendProblem, statusOf } from '../http/problem.js'
import { wantsHtml } from '../http/request.js'
import { sendPage } from '../http/send-page.js'
import type { PageMessage, View } from '../pages/view.js'
import { languageChoice } from './language-choice.js'

/** Responds with a page that only shows a problem, or with problem+json. The user need not be signed in. */
export function stop(
  req: Request,
  res: Response,
  deps: RouteDeps,
  problem: Problem,
  next?: 'sign-in' | 'retry',
  status = statusOf(problem.code),
): void {
  if (!wantsHtml(req)) return sendProblem(res, problem, status)
  const message: PageMessage = { tone: 'error', code: problem.code }
  setRetryAfter(res, problem)
  res.status(status)
  showPublicPage(req, res, deps, { page: 'stop', message, ...(next && { next }) })
}

/** Responds with a page that requires no sign-in. */
export function showPublicPage(
  req: Request,
  res: Response,
  { settings, render }: RouteDeps,
  view: View,
): void {
  sendPage(
    res,
    render(view, {
      locales: localesOf(req, settings),
      appName: settings.appName,
      base: settings.path,
      signInPath: settings.signInPath,
      homePath: settings.homePath,
      purpose: 'sign-in',
      now: Date.now(),
      ...languageChoice(req, settings, view, false),
      ...(settings.logo && { logo: settings.logo }),
      ...(settings.stylesheet && { stylesheet: settings.stylesheet }),
    }),
  )
}
