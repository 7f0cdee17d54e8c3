import type { ProbeAgent } from '../../probe/probed-app.js'
import { totpCode } from '../../testing/service.js'
import { createPluginRequest } from './plugin-requests.js'
import type { Scene } from './scene.js'
import { reportBroken, reportHeld, requireGiven, Untried, type Verdict } from './verdict.js'

/** Has an operator reset the account while a session of it changes a factor. */
export async function resetRace(scene: Scene): Promise<Verdict> {
  const { user, changes, isPlugin, send, isIn, factorsOf } = scene
  const reset = requireGiven(scene.reset, '--reset, the request by which an operator resets the account')
  const operator = requireGiven(scene.operator, '--operator-sign-in, the sign-in of that operator')
  // An earlier attack may have removed the factor.
  const first = await scene.passed(user.signIn)
  const agent = (await isIn(first)) ? first : await scene.signedInAgain()
  const under = isPlugin ? [await prepareApp(scene, agent)] : changes
  const { agent: desk, code } = await scene.pending(operator)
  await scene.submit(desk, await code())
  const [{ status }] = await Promise.all([send(desk, reset), ...under.map((change) => send(agent, change))])
  if (status >= 400) throw new Untried(`${reset.method} ${reset.path} got ${status} and did not reset`)
  if (await isIn(agent)) return reportBroken('the session goes on after the reset')
  if (!isPlugin) return reportHeld('the session ended')
  const left = (await factorsOf(await scene.passed(user.signIn))).filter(({ method }) => method === 'app')
  return (left.length > 0 ? reportBroken : reportHeld)('an app that was confirmed during the reset')
}

/** The request that confirms an app, which the signed-in user has prepared. */
async function prepareApp(scene: Scene, agent: ProbeAgent) {
  const { check, user, send } = scene
  const enroll = createPluginRequest(check.path, 'enrollApp')
  const first = await send(agent, enroll)
  const [, approval] = /"approval":\{[^}]*?"id":"([^"]+)"/.exec(first.text) ?? []
  if (approval !== undefined) await scene.approve(agent, user, approval)
  const { status, text } = approval === undefined ? first : await send(agent, enroll)
  const [, secret] = /"secret":"([A-Z2-7]+)"/.exec(text) ?? []
  if (secret === undefined) throw new Untried(`${enroll.path} got ${status} and no secret of a new app`)
  return createPluginRequest(check.path, 'confirmApp', { code: totpCode(secret) })
}
