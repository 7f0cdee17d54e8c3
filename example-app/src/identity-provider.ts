import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import type Provider from 'oidc-provider'
import * as z from 'zod'
import { bodyParsers, readBody } from './http/body.js'
import { securityHeaders } from './http/security-headers.js'
import type { SeedUser } from './seed-users.js'
import { identityProviderPage } from './views/identity-provider-page.js'

/** The client that Vault is to the identity provider. */
export interface CompanyClient {
  readonly id: string
  readonly secret: string
}

/** Which seed user signs in, and whether with a second factor; or nobody. */
const choice = z.object({ username: z.string().max(100), factor: z.enum(['password', 'mfa', 'cancel']) })

/** The client of this process: Vault and its identity provider share the secret in memory. */
export function companyClient(): CompanyClient {
  return { id: 'vault', secret: randomBytes(32).toString('base64url') }
}

/** A key for this process only: nobody else trusts what it signs. */
function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { ...privateKey.export({ format: 'jwk' }), kid: 'vault-id', use: 'sig', alg: 'ES256' } as const
}

/**
 * An identity provider for trying out, with OpenID Connect as a company's has it: it signs in a seed user without a password, and says in
 * `amr` whether it asked for a second factor. Never part of a Vault in production.
 */
export function identityProvider(...options: Options): RequestHandler {
  let router: Promise<Router> | undefined
  // Built for the first request, since most who try Vault never sign in this way.
  return (req, res, next) => {
    router ??= loadProvider().then((Provider) => buildProvider(Provider, ...options))
    router.then((handle) => handle(req, res, next), next)
  }
}

type Options = readonly [
  issuer: string,
  client: CompanyClient,
  vault: { readonly callbackUrl: string; readonly seedUsers: readonly SeedUser[] },
]

/** Loads the package without its warning about Node 20, on which Vault's tests sign in with it. */
async function loadProvider(): Promise<typeof Provider> {
  const { warn } = console
  console.warn = (...args: unknown[]) => {
    if (!String(args[0]).includes('oidc-provider WARNING: Unsupported runtime.')) warn(...args)
  }
  try {
    return (await import('oidc-provider')).default
  } finally {
    console.warn = warn
  }
}

function buildProvider(
  OidcProvider: typeof Provider,
  ...[issuer, { id, secret }, { callbackUrl, seedUsers }]: Options
): Router {
  const { pathname } = new URL(issuer)
  const provider = new OidcProvider(issuer, {
    clients: [
      {
        client_id: id,
        client_secret: secret,
        redirect_uris: [callbackUrl],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
        id_token_signed_response_alg: 'ES256',
      },
    ],
    claims: { openid: ['sub', 'amr', 'auth_time'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `${pathname}/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    // It signs in to Vault only, so nobody has to agree to that.
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? '',
        accountId: ctx.oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    jwks: { keys: [signingKey()] },
    cookies: { keys: [randomBytes(32).toString('base64url')] },
  })

  const router = Router()
  router.get('/interaction/:uid', securityHeaders, async (req: Request, res: Response) => {
    await provider.interactionDetails(req, res)
    res.send(identityProviderPage(seedUsers))
  })
  router.post('/interaction/:uid', securityHeaders, ...bodyParsers, async (req, res) => {
    const { username: accountId, factor } = readBody(req, choice)
    if (factor === 'cancel') return provider.interactionFinished(req, res, { error: 'access_denied' })
    const amr = factor === 'mfa' ? ['pwd', 'mfa'] : ['pwd']
    await provider.interactionFinished(req, res, { login: { accountId, amr, remember: false } })
  })
  router.use(provider.callback())
  return router
}
