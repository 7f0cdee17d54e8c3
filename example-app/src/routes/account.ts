import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { frameOf } from '../http/frame.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takePageMessage } from '../session.js'
import { accountPage } from '../views/account-page.js'

/** `GET /account` */
export function accountRoutes(context: VaultContext): Router {
  const router = Router()
  router.get('/account', signedIn, (req, res) => {
    res.send(accountPage(customer(req), req.mfa, takePageMessage(req), frameOf(req, context)))
  })
  return router
}
