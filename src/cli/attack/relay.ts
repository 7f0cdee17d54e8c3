import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { addKey, signInWithKey } from '../../testing/sign-in.js'
import { softwareAuthenticator } from '../../testing/software-authenticator.js'
import { createPluginRequest } from './plugin-requests.js'
import type { AttackTarget } from './read-target.js'
import { openTarget } from './target.js'
import { Untried } from './verdict.js'

/** Whether a phishing page is signed in by passing on what a user shows it. */
export interface Relayed {
  readonly factor: 'code' | 'key'
  readonly relayed: 'yes' | 'no' | 'unknown'
  readonly reason: string
}

/**
 * Signs the user in through a reverse proxy on this machine, as a phishing page is: with a code, and with a key that is added before and
 * removed afterwards. The proxy keeps the session for itself, and is signed in if that session reaches a protected page.
 */
export async function relayFactors(target: AttackTarget): Promise<readonly Relayed[]> {
  const app = openTarget(target)
  const { check, user, isPlugin } = target
  const { path, url } = check

  /** Has a victim sign in at the relay. The reason is what the victim was told. */
  const relay = async (
    signIn: (victim: ReturnType<typeof openTarget>, origin: string) => Promise<string>,
  ): Promise<Omit<Relayed, 'factor'>> => {
    const attacker = app.browser()
    const pass = async (req: IncomingMessage, res: ServerResponse) => {
      const { method = 'GET', headers, url: requested = '/' } = req
      const sent = method === 'GET' ? {} : { body: await text(req) }
      const names = ['accept', 'content-type', 'sec-fetch-dest', 'sec-fetch-mode']
      const passed = names.map((name) => [name, headers[name] ?? ''])
      const own = Object.fromEntries(passed.filter(([, value]) => value !== ''))
      const answer = await attacker(requested, { method, headers: { ...own, Origin: url.origin }, ...sent })
      const location = answer.headers.get('Location')?.replace(url.origin, '')
      const type = answer.headers.get('Content-Type') ?? 'text/plain'
      res.writeHead(answer.status, { 'Content-Type': type, ...(location && { Location: location }) })
      res.end(await answer.text())
    }
    const server = createServer((req, res) => void pass(req, res).catch(() => res.destroy()))
    await new Promise<void>((resolve) => server.listen(0, url.hostname.replace(/^\[|\]$/g, ''), resolve))
    // The name is that of the app, so that a browser lets a key sign. For the name of a phishing page, it would not.
    const relayUrl = new URL(`http://${url.hostname}:${(server.address() as AddressInfo).port}`)
    try {
      const said = await signIn(
        openTarget({ ...target, check: { ...check, url: relayUrl } }),
        relayUrl.origin,
      )
      return { relayed: (await app.isIn(attacker)) ? 'yes' : 'no', reason: said }
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  const code = () =>
    relay(async (victim, origin) => {
      const { agent, code: read } = await victim.pending(user)
      await victim.submit(agent, await read())
      return `typed at ${origin}`
    })

  const key = async () => {
    if (!isPlugin) throw new Untried('keys are tried with the plugin only')
    const authenticator = softwareAuthenticator()
    const { agent, code: read } = await app.pending(user)
    const right = await read()
    await app.submit(agent, right)
    app.hasUsed(user, right)
    const approve = (approval: string) => app.approve(agent, user, approval)
    const id = await addKey(agent, { authenticator, origin: url.origin, path, approve })
    const signIn = { authenticator, path, factor: 'passkey' }
    const own = await app.passed(user.signIn)
    // Otherwise a refusal at the relay would say nothing.
    await signInWithKey(own, { ...signIn, origin: url.origin })
    try {
      return await relay(async (victim, origin) => {
        const signed = signInWithKey(await victim.passed(user.signIn), { ...signIn, origin })
        return signed.then(
          () => `signed at ${origin}`,
          ({ message }: Error) => `signed at ${origin}: ${message}`,
        )
      })
    } finally {
      await app.send(own, createPluginRequest(path, 'removeKey', { key: id }))
    }
  }

  const unknown = (error: unknown) => ({ relayed: 'unknown', reason: String(Object(error).message) }) as const
  return [
    { factor: 'code', ...(await code().catch(unknown)) },
    { factor: 'key', ...(await key().catch(unknown)) },
  ]
}
