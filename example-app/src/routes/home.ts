import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { frameOf } from '../http/frame.js'
import { frontPage, homePage } from '../views/home-page.js'

/** `GET /` */
export function homeRoutes(context: VaultContext): Router {
  const { ledger } = context
  const router = Router()
  router.get('/', async (req, res) => {
    const frame = frameOf(req, context)
    const page = req.user ? homePage(req.user, await ledger.balance(req.user.id), frame) : frontPage(frame)
    res.send(page)
  })
  return router
}
