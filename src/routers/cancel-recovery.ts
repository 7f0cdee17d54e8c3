import type { Router } from 'express'
import type { RouteDeps } from '../actions/deps.js'
import { addNoticeLinkRoutes } from './notice-link.js'

/**
 * The link in the notices of a recovery: `GET /cancel-recovery?token=…` asks for confirmation, `POST /cancel-recovery` cancels
 * the recovery. Without the option `recovery` there are no routes.
 */
export function addCancelRecoveryRoutes(router: Router, deps: RouteDeps): void {
  const { recovery, settings } = deps
  if (!recovery || !settings.recovery?.selfService) return
  addNoticeLinkRoutes(router, deps, {
    path: '/cancel-recovery',
    ask: 'cancel-recovery',
    done: { page: 'recovery-canceled' },
    status: 'canceled',
    isLive: async (token) => (await recovery.findByToken(token)) !== undefined,
    async follow(_req, token) {
      const found = await recovery.findByToken(token)
      return found !== undefined && recovery.cancel(found.userId, 'link', found.recovery)
    },
  })
}
