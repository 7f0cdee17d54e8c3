import { Router } from 'express'

/** `GET /me`: the signed-in user and the MFA status, always as JSON. */
export function meRoutes(): Router {
  const router = Router()
  router.get('/me', (req, res) => {
    const { status = 'none', amr = [], verifiedAt = null } = req.mfa ?? {}
    res.json({
      user: req.user ? { username: req.user.username } : null,
      mfa: { status, amr, verifiedAt: verifiedAt === null ? null : new Date(verifiedAt).toISOString() },
    })
  })
  return router
}
