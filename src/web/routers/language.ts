import type { Request, Response } from 'express'
import { languageBody } from '../../routes/bodies.js'
import type { AnswerOf } from '../../routes/routes.js'
import { sanitizeReturnTo } from '../../session/return-to.js'
import type { RouteDeps } from '../actions/context.js'
import { readBody } from '../http/body.js'
import { rememberLanguage } from '../http/cookies.js'
import { wantsHtml } from '../http/request.js'
import type { RouteHandlers } from './route.js'
import { stop } from './show-page.js'

/** Remembers a language for this browser. No route without `languages.offer`. */
export function languageRoutes({ settings }: RouteDeps): RouteHandlers<'languageRouter'> | undefined {
  return settings.languages.offer ? { chooseLanguage: choose } : undefined
}

async function choose(req: Request, res: Response, deps: RouteDeps): Promise<void> {
  const { settings } = deps
  const body = await readBody(req, res, languageBody)
  if ('fault' in body) return stop(req, res, deps, body.fault, 'retry')
  const { path } = settings.urls
  const { offer = [], remember } = settings.languages
  const wanted = body.fields.language.toLowerCase()
  const tag = offer.find((offered) => offered.toLowerCase() === wanted)
  if (tag === undefined) {
    const detail = `must be one of ${offer.join(', ')}`
    return stop(req, res, deps, { code: 'invalid_request', errors: [{ field: 'language', detail }] }, 'retry')
  }
  if (remember) await remember(req, res, tag)
  else rememberLanguage(req, res, tag, settings)
  const next = findMfaPage(body.fields.back, path)
  if (wantsHtml(req)) return res.redirect(303, next)
  res.json({ status: 'chosen', language: tag, next } satisfies AnswerOf<'chooseLanguage'>)
}

/** The page to return to, if it is an MFA page, else the first MFA page (R15). */
function findMfaPage(back: string | undefined, path: string): string {
  const page = sanitizeReturnTo(back)
  if (!page?.startsWith(path)) return path
  return ['', '/', '?', '#'].includes(page.charAt(path.length)) ? page : path
}
