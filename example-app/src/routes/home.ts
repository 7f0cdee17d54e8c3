import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { frameOf } from '../http/frame.js'
import { frontPage, homePage } from '../views/home-page.js'
import { keysOf } from './account.js'

/** `GET /` */
export function homeRoutes(context: VaultContext): Router {
  const { ledger } = context
  const router = Router()
  router.get('/', async (req, res) => {
    const frame = frameOf(req, context)
    if (!req.user) return void res.send(frontPage(frame))
    const [balance, keys] = await Promise.all([ledger.balance(req.user.id), keysOf(req.user, context)])
    res.send(homePage(req.user, balance, keys, frame))
  })
  return router
}
