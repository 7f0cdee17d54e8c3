import { app } from './app.js'
import { endWithSession } from './end-with-session.js'
import { mfa } from './mfa.js'

/** Server-sent events at `/events`. The route is behind the gate like any other; the check is for the time after it. */
export function openEvents() {
  app.get('/events', async (req, res) => {
    const upgrade = await mfa.upgrade(req, app)
    if (upgrade.outcome === 'refused') return res.status(upgrade.status).json(upgrade.problem)
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' })
    res.write(`data: hello ${upgrade.user.username}\n\n`)
    res.on(
      'close',
      endWithSession(upgrade, () => res.end()),
    )
  })
}
