import type { Key } from 'countersign/protocol'
import { Router } from 'express'
import type { VaultContext } from '../context.js'
import { frameOf } from '../http/frame.js'
import { customer, signedIn } from '../http/signed-in.js'
import { takePageMessage } from '../session.js'
import type { VaultUser } from '../store/users.js'
import { accountPage } from '../views/account-page.js'

/** `GET /account` */
export function accountRoutes(context: VaultContext): Router {
  const router = Router()
  router.get('/account', signedIn, async (req, res) => {
    const user = customer(req)
    const security = { mfa: req.mfa, keys: await keysOf(user, context) }
    res.send(accountPage(user, security, takePageMessage(req), frameOf(req, context)))
  })
  return router
}

/** The user's passkeys and security keys; `undefined` if the service offers none, or cannot say. */
export async function keysOf(user: VaultUser, { keys }: VaultContext): Promise<readonly Key[] | undefined> {
  const request = { account: String(user.id), contact: { kind: 'email', email: user.email } } as const
  // The rest of the page does not depend on the service.
  const answer = await keys?.list(request).catch(() => undefined)
  return answer && 'keys' in answer ? answer.keys : undefined
}
