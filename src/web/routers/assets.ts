import { type NextFunction, type Request, type Response, Router } from 'express'
import { type AssetName, assets } from '../../pages/layout.js'
import type { RouteDeps } from '../actions/context.js'

/** Adds the routes of the style sheet and the scripts. */
export function addAssets(router: Router): void {
  for (const name of Object.keys(assets) as AssetName[]) {
    const { type, body } = assets[name]
    router.get(`/assets/${name}`, function mfaAsset(_req, res) {
      res.set({ 'Cache-Control': 'public, max-age=86400', 'X-Content-Type-Options': 'nosniff' })
      res.type(type).send(body)
    })
  }
}

/** How long a browser or proxy may use the documents, in seconds. */
const MAX_AGE_SECONDS = 3_600

/** `GET /webauthn` and `GET /passkey-endpoints`: public, and 404 without content. */
export function buildWellKnownRouter({ settings, keys }: RouteDeps): Router {
  const router = Router()
  if (!keys.areOffered) return router

  router.get('/webauthn', function relatedOrigins(_req: Request, res: Response, next: NextFunction) {
    keys.relyingParty().then((party) => {
      const origins = party?.relatedOrigins ?? []
      if (origins.length === 0) return next()
      send(res, { origins: [...new Set([...(party?.origins ?? []), ...origins])] })
    }, next)
  })

  router.get(
    '/passkey-endpoints',
    function passkeyEndpoints(_req: Request, res: Response, next: NextFunction) {
      const { publicUrl, path } = settings.urls
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
