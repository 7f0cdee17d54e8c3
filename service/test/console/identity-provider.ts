import { createServer } from 'node:http'
import express from 'express'
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import request from 'supertest'
import { expect } from 'vitest'
import { listenOnLoopback } from '../../../test/kit/loopback.js'
import type { Browser } from './kit.js'

export const URL_OF_CONSOLE = 'https://console.example'
export const CLIENT = { id: 'console', secret: 'a secret of the tests' }
export const LOGOUT = '/console/sign-in/oidc/logout'

/** Who signs in at the provider next. */
export interface NextSignIn {
  readonly sub: string
  readonly amr?: readonly string[]
  readonly claims?: Readonly<Record<string, unknown>>
  /** When they showed the factors, in seconds since 1970. Defaults to now. */
  readonly at?: number
}

/** The options of a console whose operators sign in at a provider. */
export function optionsFor(issuer: string) {
  return {
    ...{ url: URL_OF_CONSOLE, oidcIssuer: issuer, oidcClientId: CLIENT.id, oidcClientSecret: CLIENT.secret },
    ...{ oidcAdmins: ['it-security', 'board'], oidcSupport: ['helpdesk'], oidcViewers: ['staff'] },
    oidcAmr: ['mfa'],
  }
}

/** A provider on this machine that signs in whom the test says, without a page, for a console at an address. */
export async function startProvider(
  authMethod: 'client_secret_post' | 'client_secret_basic' = 'client_secret_post',
  urlOfConsole = URL_OF_CONSOLE,
) {
  let next: NextSignIn = { sub: 'nobody' }
  const seen: URLSearchParams[] = []
  const key = await generateKeyPair('RS256', { extractable: true })
  const app = express()
  const server = createServer(app)
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  let retouch: ((idToken: string) => Promise<string>) | undefined
  let published: JWK[] | undefined
  let deliver = async (_token: string) => 200
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret },
        redirect_uris: [`${urlOfConsole}/console/sign-in/oidc/callback`],
        ...{ response_types: ['code'], grant_types: ['authorization_code'] },
        token_endpoint_auth_method: authMethod,
        backchannel_logout_uri: `${urlOfConsole}${LOGOUT}`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(key.privateKey)), kid: 'tests', alg: 'RS256', use: 'sig' }] },
    claims: {
      openid: ['sub', 'amr', 'acr', 'auth_time', 'groups'],
      email: ['email', 'email_verified'],
    },
    conformIdTokenClaims: false,
    clientAuthMethods: [authMethod],
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
    },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...next.claims }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? '',
        accountId: ctx.oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid email')
      await grant.save()
      return grant
    },
    // The address of the console is no host on this machine.
    fetch: async (_url, { body } = {}) =>
      new Response(null, {
        status: await deliver(new URLSearchParams(String(body)).get('logout_token') ?? ''),
      }),
    cookies: { keys: ['a key of the tests'] },
    // The console uses PKCE, and would fail without it.
    pkce: { required: () => true },
  })
  app.get('/interaction/:uid', async (req, res) => {
    const { sub: accountId, amr = [], at } = next
    const login = { accountId, amr: [...amr], remember: false, ...(at !== undefined && { ts: at }) }
    await provider.interactionFinished(req, res, { login })
  })
  app.use((req, _res, go) => {
    if (req.path === '/auth') seen.push(new URL(req.originalUrl, issuer).searchParams)
    go()
  })
  app.get('/jwks', (_req, res, go) => void (published ? res.json({ keys: published }) : go()))
  app.post('/token', (_req, res, go) => {
    const end = res.end.bind(res)
    res.end = ((body: string) => {
      const answer = JSON.parse(body)
      void Promise.resolve(retouch?.(answer.id_token)).then((changed) => {
        const text = JSON.stringify({ ...answer, ...(changed && { id_token: changed }) })
        res.setHeader('content-length', Buffer.byteLength(text))
        end(text)
      })
      return res
    }) as typeof res.end
    go()
  })
  app.use(provider.callback())
  const atHome = () => request.agent(issuer)
  return {
    issuer,
    seen,
    /** A browser at the provider. */
    browser: atHome,
    /** Says who signs in next. */
    signsIn(who: NextSignIn) {
      next = who
    },
    /** Changes ID tokens before the console gets them. */
    retouches(change: typeof retouch) {
      retouch = change
    },
    /** Publishes these keys instead of its own. */
    publishes(keys: JWK[] | undefined) {
      published = keys
    },
    /** Follows a browser of the console to the provider and back; returns the path at which it comes back. */
    async visit(browser: Browser, start = '/console/sign-in/oidc', there = atHome()): Promise<string> {
      const { headers } = await browser.get(start)
      let at = new URL(String(headers.location ?? headers.refresh?.replace('0; url=', '')))
      for (let hops = 0; hops < 6 && at.origin === issuer; hops++) {
        const { headers } = await there.get(at.pathname + at.search)
        at = new URL(String(headers.location), issuer)
      }
      expect(at.origin).toBe(urlOfConsole)
      return at.pathname + at.search
    },
    /** Signs out in a browser at the provider; returns the statuses with which the console answered. */
    async signOut(there: ReturnType<typeof atHome>, post: (token: string) => Promise<number>) {
      const answers: number[] = []
      deliver = async (token) => {
        const status = await post(token)
        answers.push(status)
        return status
      }
      const { text } = await there.get('/session/end').expect(200)
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(text)?.[1]
      await there.post('/session/end/confirm').type('form').send({ xsrf, logout: 'yes' })
      return answers
    },
    /** Signs a token with the key of the provider. */
    sign: (
      payload: JWTPayload,
      header: { readonly alg: string; readonly kid?: string } = { alg: 'RS256', kid: 'tests' },
    ) => new SignJWT(payload).setProtectedHeader(header).sign(key.privateKey),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
