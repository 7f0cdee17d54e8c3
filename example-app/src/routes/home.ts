import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { frontPage, homePage } from '../views/home-page.js'

/** `GET /` */
export function homeRoutes({ ledger, inbox }: VaultContext): Router {
  const router = Router()
  router.get('/', async (req, res) => {
    const page = req.user
      ? homePage(req.user, await ledger.balance(req.user.id), inbox !== undefined)
      : frontPage(inbox !== undefined)
    res.send(page)
  })
  return router
}
