import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takeNotice } from '../session.js'
import { accountPage } from '../views/account-page.js'

/** `GET /account` */
export function accountRoutes({ inbox }: VaultContext): Router {
  const router = Router()
  router.get('/account', signedIn, (req, res) => {
    res.send(accountPage(customer(req), req.mfa, takeNotice(req), inbox !== undefined))
  })
  return router
}
