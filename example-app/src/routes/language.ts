import { type Request, Router } from 'express'
import * as z from 'zod'
import { readBody } from '../http/body.js'
import { localPath } from '../http/local-path.js'
import { wantsJson } from '../http/negotiate.js'
import { isLanguage, LANGUAGES, rememberLanguage } from '../language.js'

const tagText = `must be one of ${Object.keys(LANGUAGES).join(', ')}`
const choice = z.object({
  to: z.custom<keyof typeof LANGUAGES>(isLanguage, { error: tagText }),
  back: z.string({ error: 'must be text' }).max(2_048).optional(),
})

/** `POST /language`: remembers a language for this browser, and redirects back to the page. */
export function languageRoutes(): Router {
  const router = Router()
  router.post('/language', (req, res) => {
    const { to, back } = readBody(req, choice)
    rememberLanguage(req, res, to)
    const next = back === undefined ? pageBefore(req) : localPath(back)
    if (wantsJson(req)) res.json({ language: to, next })
    else res.redirect(303, next)
  })
  return router
}

/** The page of this site that the browser came from. */
function pageBefore(req: Request): string {
  const referer = req.get('referer')
  if (!referer || !URL.canParse(referer)) return '/'
  const { host, pathname, search } = new URL(referer)
  return host === req.get('host') ? localPath(pathname + search) : '/'
}
