import { type NextFunction, type Request, type Response, Router } from 'express'
import type { RouteDeps } from '../actions/deps.js'

/** How long a browser or proxy may use the documents, in seconds. */
const MAX_AGE_SECONDS = 3_600

/**
 * `GET /webauthn`: the origins of other sites that share the keys, from the settings of the service. `GET /passkey-endpoints`: where
 * password managers send a user who wants to add or manage a passkey. Both are public. A document without content is 404.
 */
export function buildWellKnownRouter({ settings, relyingParty }: RouteDeps): Router {
  const router = Router()
  if (!relyingParty) return router

  router.get('/webauthn', function relatedOrigins(_req: Request, res: Response, next: NextFunction) {
    relyingParty().then((party) => {
      const origins = party?.relatedOrigins ?? []
      if (origins.length === 0) return next()
      send(res, { origins: [...new Set([...(party?.origins ?? []), ...origins])] })
    }, next)
  })

  router.get(
    '/passkey-endpoints',
    function passkeyEndpoints(_req: Request, res: Response, next: NextFunction) {
      const { publicUrl, path } = settings
      if (publicUrl === undefined) return next()
      const page = `${publicUrl}${path}/keys`
      send(res, { enroll: page, manage: page })
    },
  )
  return router
}

function send(res: Response, document: object): void {
  res.set('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`)
  res.set('X-Content-Type-Options', 'nosniff')
  res.json(document)
}
