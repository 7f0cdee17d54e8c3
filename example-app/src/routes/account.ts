import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { aroundOf } from '../http/around.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takeNotice } from '../session.js'
import { accountPage } from '../views/account-page.js'

/** `GET /account` */
export function accountRoutes(context: VaultContext): Router {
  const router = Router()
  router.get('/account', signedIn, (req, res) => {
    res.send(accountPage(customer(req), req.mfa, takeNotice(req), aroundOf(req, context)))
  })
  return router
}
