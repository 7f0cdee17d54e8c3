import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { aroundOf } from '../http/around.js'
import { frontPage, homePage } from '../views/home-page.js'

/** `GET /` */
export function homeRoutes(context: VaultContext): Router {
  const { ledger } = context
  const router = Router()
  router.get('/', async (req, res) => {
    const around = aroundOf(req, context)
    const page = req.user ? homePage(req.user, await ledger.balance(req.user.id), around) : frontPage(around)
    res.send(page)
  })
  return router
}
