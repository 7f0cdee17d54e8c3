import type { Scene } from './scene.js'
import { reportBroken, reportHeld, Untried, type Verdict } from './verdict.js'

const REQUESTS_UNDER_WAY = 20

/** Signs a browser out while it loads pages, the last of which may store the session again. */
export async function lateRequest(scene: Scene): Promise<Verdict> {
  const { check, signOut, browser, cookiesOf, isIn } = scene
  const agent = await scene.signedInAgain()
  const copied = cookiesOf(agent)
  const [page = '/'] = check.protectedPaths
  let isOut = false
  const load = () => scene.get(browser(copied), page)
  // Once all have connected, they load while the sign-out is under way.
  await Promise.all(Array.from({ length: REQUESTS_UNDER_WAY }, load))
  const loading = Array.from({ length: REQUESTS_UNDER_WAY }, async () => {
    while (!isOut) await load()
  })
  const { status } = await scene.send(agent, { ...signOut, page }).finally(() => {
    isOut = true
  })
  await Promise.all(loading)
  if (status >= 400) throw new Untried(`${signOut.method} ${signOut.path} got ${status}; give --sign-out`)
  return ((await isIn(browser(copied))) ? reportBroken : reportHeld)(`${REQUESTS_UNDER_WAY} pages at once`)
}
