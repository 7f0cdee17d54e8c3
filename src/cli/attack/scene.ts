import type { AppRequest } from '../../probe/app-request.js'
import type { Answer } from '../../probe/probe-login.js'
import { pollute } from './foreign-address.js'
import type { AttackTarget } from './read-target.js'
import { openTarget } from './target.js'
import { requireGiven, Untried } from './verdict.js'

/** The parts that the attacks on an app share: the target, and browsers that have signed in. */
export type Scene = ReturnType<typeof openScene>

/** Opens the target. Each browser signs in when the first attack needs it. */
export function openScene(read: AttackTarget) {
  const target = openTarget(read)
  const { check, user, other, verify, browser, cookiesOf, isIn } = target
  const addRemember = (request: AppRequest) => ({
    ...request,
    fields: { ...request.fields, ...target.remember },
  })
  const ownAccount = other && { ...other, signIn: addRemember(other.signIn) }

  /** The user's own sign-in, and what an attacker can have copied on the way. */
  const signedIn = runOnce(async () => {
    const agent = browser()
    await target.get(agent, user.signIn.page ?? user.signIn.path)
    if (await isIn(agent)) throw new Untried('an anonymous request gets the page that --protected names')
    const beforeLogin = cookiesOf(agent)
    const { answers, code } = await target.pending(user, { agent })
    if (await isIn(agent)) throw new Untried('the first factor alone reaches the page that --protected names')
    const beforeFactor = cookiesOf(agent)
    const right = await code()
    const { status } = await target.submit(agent, right)
    if (!(await isIn(agent))) throw new Untried(`the right code gets ${status} and does not sign in`)
    target.hasUsed(user, right)
    return { agent, answers, beforeLogin, beforeFactor, usedCode: right }
  })
  const browsers = new Map<number, Awaited<ReturnType<typeof target.pending>>>()
  /** A browser that waits for the second factor. Codes are limited, so attacks share one as long as it waits. */
  const waiting = async (nth: number, signIn = user.signIn) => {
    await signedIn()
    const known = browsers.get(nth)
    // A browser whose login was canceled cannot be asked, and is no longer waiting.
    if (known && !(await isIn(known.agent).catch(() => true))) return known
    const made = await target.pending(user, { signIn })
    if (await isIn(made.agent)) throw new Untried('an earlier attack has removed the second factor')
    browsers.set(nth, made)
    return made
  }
  /** Another browser in which the user is signed in: that of an earlier attack, since codes are limited. */
  const reuseSignIn = async () => {
    const known = browsers.get(1)
    if (known && (await isIn(known.agent))) return known.agent
    const { agent, code } = await waiting(1)
    const right = await code()
    await target.submit(agent, right)
    target.hasUsed(user, right)
    if (await isIn(agent)) return agent
    throw new Untried('the right code does not sign in')
  }
  /** The attacker's own account. @throws {Untried} if none was given. */
  const attacker = () => requireGiven(ownAccount, '--other-sign-in, an account of the attacker')

  return {
    ...target,
    /** Whether the app does what was requested, instead of asking for a sign-in or the factor. */
    isAccepted({ status, location }: Answer): boolean {
      const to = URL.canParse(location, check.url.origin) ? new URL(location, check.url).pathname : location
      const asking = [user.signIn.path, user.signIn.page, verify.path, check.path]
      return status < 300 || (status < 400 && !asking.some((path) => path && `${to}/`.startsWith(`${path}/`)))
    },
    withRemember: addRemember,
    attacker,
    signedIn,
    signedInAgain: reuseSignIn,
    waiting,
    toForeignSite: () => waiting(1, pollute(user.signIn)),
    waitingOther: runOnce(async () => target.pending(attacker())),
  }
}

function runOnce<Value>(make: () => Promise<Value>): () => Promise<Value> {
  let made: Promise<Value> | undefined
  return () => (made ??= make())
}
