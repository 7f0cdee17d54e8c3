import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

/** A stand-in for Google: it signs everyone in as bob, and returns to the app with a code. */
async function standInForGoogle(): Promise<{ readonly url: string; readonly server: Server }> {
  const google = express()
  google.get('/authorize', (req, res) => {
    const back = new URL(String(req.query.redirect_uri))
    back.searchParams.set('code', 'a code of Google')
    back.searchParams.set('state', String(req.query.state))
    res.redirect(back.href)
  })
  google.post('/token', express.urlencoded({ extended: false }), (req, res) => {
    if (req.body.code !== 'a code of Google') return void res.status(400).json({ error: 'invalid_grant' })
    res.json({ access_token: 'a token', token_type: 'Bearer' })
  })
  google.get('/profile', (_req, res) => {
    res.json({ sub: '117', email: 'bob@example.com', email_verified: true })
  })
  const server = google.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe('the recipe "Google and magic links"', () => {
  let recipe: Recipe
  let service: RecipeService
  let google: Awaited<ReturnType<typeof standInForGoogle>>
  let app: RunningProcess

  const start = ({ env }: RecipeService) =>
    recipe.start('server.js', {
      ...env,
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'secret',
      GOOGLE_AUTHORIZATION_URL: `${google.url}/authorize`,
      GOOGLE_TOKEN_URL: `${google.url}/token`,
      GOOGLE_PROFILE_URL: `${google.url}/profile`,
    })

  beforeAll(async () => {
    ;[recipe, service, google] = await Promise.all([
      openRecipe('google-and-magic-link'),
      serviceForRecipes(),
      standInForGoogle(),
    ])
    app = await start(service)
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
    google?.server.close()
  })

  const browser = () => request.agent(app.url).set('Accept', 'text/html')

  /** Expects that the browser has a pending login only, and completes it. */
  async function completeSignIn(agent: ReturnType<typeof browser>) {
    await agent.get('/').expect(303).expect('Location', '/mfa')
    await challenge(agent, 'sms').type('form').expect(303)
    const code = await service.newestCode('+447700900102')
    await verify(agent, code).type('form').expect(303).expect('Location', '/')
    expect((await agent.get('/').expect(200)).text).toContain('Signed in as bob@example.com.')
  }

  it('asks for the second factor after a sign-in with Google', async () => {
    const agent = browser()
    const started = await agent.get('/login/google').expect(302)
    const back = await fetch(started.headers.location ?? '', { redirect: 'manual' })
    const { pathname, search } = new URL(back.headers.get('location') ?? '')
    await agent
      .get(pathname + search)
      .expect(302)
      .expect('Location', '/')
    await completeSignIn(agent)
  })

  /** Requests a magic link, and returns its path. */
  async function magicLink({ url, output }: RunningProcess): Promise<string> {
    await request(url).post('/login/link').type('form').send({ email: 'bob@example.com' }).expect(200)
    await expect.poll(output).toMatch(/Link for bob@example.com: \S+/)
    return /Link for \S+ (\S+)/.exec(output())?.[1] ?? ''
  }

  it('asks for the second factor after a magic link, which works once', async () => {
    const agent = browser()
    const path = await magicLink(app)
    await agent.get(path).expect(200)
    await agent.post(path).expect(302).expect('Location', '/')
    await completeSignIn(agent)
    await browser().post(path).expect(401)
  })
  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const own = await serviceForRecipes()
    const attacked = await start(own)
    await expectHeld(
      attacked.url,
      [
        ...['--sign-in', 'GET /login/google', '--provider', google.url, '--pending-path', '/login'],
        ...['--login', `POST ${await magicLink(attacked)}`, '--protected', '/', '--inbox', own.inbox],
      ],
      ['second-login'],
    )
    await own.stop()
  })
})
