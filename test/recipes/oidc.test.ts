import { createServer } from 'node:http'
import express from 'express'
import Provider from 'oidc-provider'
import request from 'supertest'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasMovableClock, type MovableClock, movableClock } from '../journeys/kit/clock.js'
import { MINUTE, SECOND } from '../kit/clock.js'
import { freePort, listenOnLoopback } from '../kit/loopback.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

type Agent = ReturnType<typeof request.agent>

/** Who signs in at the provider next, and with which factors. */
interface NextSignIn {
  readonly subject: string
  readonly amr: readonly string[]
}

const BOB = 'bob-at-the-company'

/** A provider on this machine that signs in whom the test says, without a page, or else asks for the subject. */
async function startProvider(callback = 'http://localhost:3000/login/company/callback') {
  let next: NextSignIn | undefined
  const app = express()
  const server = createServer(app)
  const issuer = `http://127.0.0.1:${await listenOnLoopback(server)}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'shop',
        client_secret: 'a secret of the tests',
        redirect_uris: [callback],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub', 'amr', 'acr', 'auth_time'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    loadExistingGrant: async (ctx) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client?.clientId ?? '',
        accountId: ctx.oidc.session?.accountId ?? '',
      })
      grant.addOIDCScope('openid')
      await grant.save()
      return grant
    },
    cookies: { keys: ['a key of the tests'] },
    pkce: { required: () => false },
  })
  app.get('/interaction/:uid', async (req, res) => {
    if (!next) return void res.send('<form method="post"><input name="subject"></form>')
    const { subject: accountId, amr } = next
    await provider.interactionFinished(req, res, { login: { accountId, amr: [...amr], remember: false } })
  })
  app.post('/interaction/:uid', express.urlencoded({ extended: false }), async (req, res) => {
    const { subject: accountId } = req.body
    await provider.interactionFinished(req, res, { login: { accountId, amr: ['pwd'], remember: false } })
  })
  app.use(provider.callback())
  return {
    issuer,
    server,
    /** Says who signs in next. */
    signsIn(subject: string, amr: readonly string[]) {
      next = { subject, amr }
    },
  }
}

describe.skipIf(!hasMovableClock())('the recipe "OpenID Connect"', () => {
  let clock: MovableClock
  let recipe: Recipe
  let service: RecipeService
  let provider: Awaited<ReturnType<typeof startProvider>>
  let app: RunningProcess

  beforeAll(async () => {
    ;[recipe, service, provider] = await Promise.all([
      openRecipe('oidc'),
      serviceForRecipes(),
      startProvider(),
    ])
    clock = movableClock(recipe.folder)
    app = await recipe.start('server.js', {
      ...service.env,
      ...clock.env,
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: 'shop',
      OIDC_CLIENT_SECRET: 'a secret of the tests',
    })
  })
  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
    provider?.server.closeAllConnections()
    provider?.server.close()
  })

  afterEach(() => {
    vi.useRealTimers()
    clock.ahead(0)
  })

  /** Lets six minutes pass for the app and for the provider, whose clocks differ by some seconds. */
  function sixMinutesLater(): void {
    clock.ahead((6 * MINUTE) / SECOND)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6 * MINUTE + 15 * SECOND })
  }

  const newBrowser = () => request.agent(app.url).set('Accept', 'text/html')

  /** Sends the form of a payment. */
  const pay = (browser: Agent) =>
    browser.post('/pay').set('Origin', app.url).type('form').send({ amount: '30' })

  /** Follows the browser through the provider, and returns where the app leads it after the callback. */
  async function throughProvider(browser: Agent, start: string): Promise<string> {
    const sent = await browser.get(start).expect(302)
    const there = request.agent(provider.issuer)
    let at = new URL(String(sent.headers.location))
    for (let hops = 0; hops < 6 && at.origin === provider.issuer; hops++) {
      const { headers } = await there.get(at.pathname + at.search)
      at = new URL(String(headers.location), provider.issuer)
    }
    const back = await browser.get(at.pathname + at.search)
    return String(back.headers.location)
  }

  it('asks for nothing more if the provider asked for a second factor', async () => {
    provider.signsIn(BOB, ['pwd', 'mfa'])
    const browser = newBrowser()
    expect(await throughProvider(browser, '/login/company')).toBe('/')
    const { text } = await browser.get('/').expect(200)
    expect(text).toContain(`verified: pwd mfa, as ${provider.issuer} says`)
  })

  it('asks for the second factor if the provider did not', async () => {
    provider.signsIn(BOB, ['pwd'])
    const browser = newBrowser()
    await throughProvider(browser, '/login/company')
    await browser.get('/').expect(303).expect('Location', '/mfa')
    await challenge(browser, 'sms').type('form').expect(303)
    await verify(browser, await service.newestCode('+447700900102'))
      .type('form')
      .expect(303)
    expect((await browser.get('/').expect(200)).text).toContain('verified: pwd sms mfa')
  })

  it('sends a payment back to the provider if the factor is older than the rule, and offers the form again', async () => {
    provider.signsIn(BOB, ['pwd', 'mfa'])
    const browser = newBrowser()
    await throughProvider(browser, '/login/company')
    sixMinutesLater()
    const refused = await pay(browser).expect(303)
    expect(refused.headers.location).toBe('/login/company?max_age=300')
    expect(await throughProvider(browser, String(refused.headers.location))).toBe('/mfa/resume')
    const { text } = await browser.get('/mfa/resume').expect(200)
    expect(text).toContain('value="30"')
    await pay(browser).expect(200, 'Paid 30.')
  })

  it('ends the session if another user comes back from the step-up', async () => {
    provider.signsIn(BOB, ['pwd', 'mfa'])
    const browser = newBrowser()
    await throughProvider(browser, '/login/company')
    sixMinutesLater()
    const refused = await pay(browser).expect(303)
    provider.signsIn('eve-at-the-company', ['pwd', 'mfa'])
    await throughProvider(browser, String(refused.headers.location))
    await browser.get('/').expect(302).expect('Location', '/login')
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const port = String(await freePort())
    const callback = `http://localhost:${port}/login/company/callback`
    const [own, asking] = await Promise.all([serviceForRecipes(), startProvider(callback)])
    const { url } = await recipe.start('server.js', {
      ...{ ...own.env, PORT: port, OIDC_CALLBACK_URL: callback, OIDC_ISSUER: asking.issuer },
      ...{ OIDC_CLIENT_ID: 'shop', OIDC_CLIENT_SECRET: 'a secret of the tests' },
    })
    const signIn = (subject: string) => `GET /login/company subject=${subject}`
    await expectHeld(
      url,
      [
        ...['--sign-in', signIn(BOB), '--other-sign-in', signIn('eve-at-the-company')],
        ...['--provider', asking.issuer, '--login', `${signIn(BOB)}`, '--pending-path', '/login'],
        ...['--protected', '/', '--inbox', own.inbox],
      ],
      ['second-login', 'foreign-code', 'session-guesses'],
    )
    await own.stop()
    asking.server.closeAllConnections()
    asking.server.close()
  })
})

describe('the recipe "OpenID Connect" while the provider is down', () => {
  it('signs nobody in, says so, and works once the provider is back', async () => {
    const [recipe, service] = await Promise.all([openRecipe('oidc'), serviceForRecipes()])
    const port = await freePort()
    try {
      const app = await recipe.start('server.js', {
        ...service.env,
        OIDC_ISSUER: `http://127.0.0.1:${port}`,
        OIDC_CLIENT_ID: 'shop',
        OIDC_CLIENT_SECRET: 'a secret of the tests',
      })
      const browser = request.agent(app.url).set('Accept', 'text/html')
      await browser.get('/login/company').expect(503, 'You could not be signed in. Please try again.')
      await browser.get('/').expect(302).expect('Location', '/login')
    } finally {
      await recipe.dispose()
      await service.stop()
    }
  })
})
