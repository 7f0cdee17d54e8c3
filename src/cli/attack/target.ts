import { setTimeout as wait } from 'node:timers/promises'
import { isPendingLogin } from '../../probe/answer-tokens.js'
import { type AppRequest, formHint, sendRequest } from '../../probe/app-request.js'
import { type Answer, answerOf, PAGE_HEADERS } from '../../probe/probe-login.js'
import { type Cookies, type ProbeAgent, runningApp } from '../../probe/probed-app.js'
import { isDelivered, METHODS } from '../../protocol/methods.js'
import { STEP_MS, totpCode } from '../../testing/service.js'
import type { AttackTarget } from './read-target.js'
import { Untried } from './verdict.js'

/** A user of the app. */
export type AttackedUser = AttackTarget['user']

type Headers = Readonly<Record<string, string>>

const REQUEST_MS = 15_000
const DELIVERY_MS = 5_000
const POLL_MS = 100
const MOST_WAITED_SECONDS = 60

/** Whether the app refuses a sign-in. It answers a client without cookies 401 with the reference of its login. */
export function isRefused({ status, text }: Answer): boolean {
  return status >= 400 && !isPendingLogin(text)
}

/** Opens browsers at the target. It remembers which codes of an authenticator app were used. */
export function openTarget(target: AttackTarget) {
  const { check, inbox, isPlugin, request, verify } = target
  const { origin } = check.url
  const { agent: browser, cookiesOf } = runningApp(origin, check.headers, {
    timeoutMs: REQUEST_MS,
    mount: check.path,
  })
  const used = new Map<AttackedUser, string>()

  const send = async (agent: ProbeAgent, what: AppRequest, headers?: Headers) =>
    answerOf(await sendRequest(agent, what, origin, headers))
  const get = async (agent: ProbeAgent, path: string, headers = PAGE_HEADERS) =>
    answerOf(await agent(path, { headers }))

  /** The codes in the messages that were sent. */
  const readSentCodes = async (): Promise<string[]> => {
    if (!inbox) throw new Untried('give --inbox, or --totp for an authenticator app, to read codes')
    const reader = runningApp(inbox.origin, check.headers, { timeoutMs: REQUEST_MS }).agent()
    const first = await reader(inbox.href)
    // An address with a key leads to one without it, for a browser with a cookie.
    const location = first.headers.get('Location')
    const answer = location === null ? first : await reader(new URL(location, inbox).href)
    return (await answer.text()).match(/(?<![\w+-])\d{6,8}(?![\w-])/g) ?? []
  }
  const newCode = async (before: readonly string[]): Promise<string> => {
    for (const until = Date.now() + DELIVERY_MS; Date.now() < until; await wait(POLL_MS)) {
      const known = [...before]
      for (const code of await readSentCodes()) {
        if (!known.includes(code)) return code
        known.splice(known.indexOf(code), 1)
      }
    }
    throw new Untried('no message with a new code arrived in --inbox')
  }

  /** The answer of the plugin about the factors of a user. */
  const getFactors = async (agent: ProbeAgent) => {
    const { text } = await get(agent, check.path, {})
    const state: { factors?: { id: string; method: string; strength: string }[] } = JSON.parse(text)
    return state.factors ?? []
  }
  const findFactor = async (agent: ProbeAgent, { totp }: AttackedUser): Promise<string> => {
    const methods: string[] = METHODS.filter((method) =>
      totp === undefined ? isDelivered(method) : method === 'app',
    )
    const id = target.factor ?? (await getFactors(agent)).find(({ method }) => methods.includes(method))?.id
    if (id !== undefined) return id
    throw new Untried(`GET ${check.path} offers no factor whose code can be read; name one with --factor`)
  }
  const requestCode = async (agent: ProbeAgent, user: AttackedUser, asked = {}) =>
    request &&
    send(
      agent,
      isPlugin ? { ...request, fields: { factor: await findFactor(agent, user), ...asked } } : request,
    )

  /** The answers that request a code of a user, and the code. @throws {Untried} if the app refuses one, or no code can be read. */
  const requestCodeOf = async (user: AttackedUser, start: () => Promise<readonly Answer[]>, hint = '') => {
    const { totp } = user
    const before = totp === undefined ? await readSentCodes() : []
    const answers = await start()
    const refused = answers.find(isRefused)
    if (refused)
      throw new Untried(`the app refuses the sign-in or the request of a code with ${refused.status}.${hint}`)
    const sent = totp === undefined ? await newCode(before) : ''
    const code = async () => {
      if (totp === undefined) return sent
      if (totpCode(totp) === used.get(user)) await wait(STEP_MS - (Date.now() % STEP_MS))
      return totpCode(totp)
    }
    return { answers, code }
  }

  /** Submits a code; `undefined` leaves the field out. */
  const submit = async (
    agent: ProbeAgent,
    code: unknown,
    as = verify,
    headers?: Headers,
  ): Promise<Answer> => {
    const fields = Object.entries(as.fields).map(([name, value]) => [name, value === '{code}' ? code : value])
    const given = Object.fromEntries(fields.filter(([, value]) => value !== undefined))
    return send(agent, { ...as, fields: given }, headers)
  }

  return {
    ...target,
    browser,
    cookiesOf,
    send,
    get,
    codesSent: readSentCodes,
    factorsOf: getFactors,
    factorOf: findFactor,
    requestCode,
    /** Whether a browser reaches a protected page. */
    async isIn(agent: ProbeAgent, headers: Headers = {}): Promise<boolean> {
      for (const path of check.protectedPaths) {
        for (const kind of [PAGE_HEADERS, {}]) {
          const { status } = await get(agent, path, { ...kind, ...headers })
          if (status >= 200 && status < 300) return true
        }
      }
      return false
    },
    /** A browser that has passed the first factor. @throws {Untried} if the app refuses it. */
    async passed(signIn: AppRequest, cookies?: Cookies): Promise<ProbeAgent> {
      const agent = browser(cookies)
      const answer = await send(agent, signIn)
      if (!isRefused(answer)) return agent
      const { status } = answer
      throw new Untried(
        `cannot sign in: ${signIn.method} ${signIn.path} responded with ${status}.${formHint(signIn)}`,
      )
    },
    /** Passes the first factor and requests a code. @throws {Untried} if the app refuses one of both, or no code can be read. */
    async pending(user: AttackedUser, { agent = browser(), signIn = user.signIn } = {}) {
      const start = async () => {
        const signedIn = await send(agent, signIn)
        const requested = isRefused(signedIn) ? undefined : await requestCode(agent, user)
        return requested ? [signedIn, requested] : [signedIn]
      }
      return { agent, ...(await requestCodeOf(user, start, formHint(signIn))) }
    },
    /** Approves what the plugin asked a signed-in user for, once the user can be sent another code. */
    async approve(agent: ProbeAgent, user: AttackedUser, approval: string): Promise<void> {
      const start = async (): Promise<Answer[]> => {
        const answer = await requestCode(agent, user, { approval })
        const [, seconds = 0] = /"retryAfterSeconds":(\d+)/.exec(answer?.text ?? '') ?? []
        if (Number(seconds) === 0 || Number(seconds) > MOST_WAITED_SECONDS) return answer ? [answer] : []
        await wait(1_000 * Number(seconds))
        return start()
      }
      const { code } = await requestCodeOf(user, start)
      await submit(agent, await code(), { ...verify, fields: { ...verify.fields, approval } })
    },
    submit,
    /** Notes the code of a user that the app has accepted. Without one, codes can be used again from now on. */
    hasUsed: (user: AttackedUser, code = '') => void (used.get(user) === '' || used.set(user, code)),
  }
}
