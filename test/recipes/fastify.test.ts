import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProcess } from '../kit/process.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { inboxAddress, openRecipe, type Recipe, showEmailCode } from './kit.js'

/** An app with its session where `@fastify/session` keeps it: at the request of Fastify, which Express middleware does not see. */
const OTHER_SESSION = `
import fastifyExpress from '@fastify/express'
import { mfaRouter } from 'countersign'
import { mfaTestKit } from 'countersign/testing'
import fastify from 'fastify'
import passport from 'passport'

const { service } = mfaTestKit()
const app = fastify()
for (const name of ['session', 'sessionStore']) app.decorateRequest(name, null)
app.addHook('onRequest', async (request) => {
  request.sessionStore = { get() {}, set() {}, destroy() {} }
  request.session = { sessionId: '1', user: 'bob', save() {}, reload() {}, regenerate() {}, destroy() {} }
})
await app.register(fastifyExpress)
app.use(passport.initialize())
app.use(mfaRouter({ service, factors: () => [] }))
app.get('/', async (request) => 'Signed in as ' + request.session.user)
console.log(await (await fetch(await app.listen({ port: 0, host: '127.0.0.1' }))).text())
await app.close()
`

describe('the recipe "Fastify"', () => {
  let recipe: Recipe
  let app: RunningProcess

  beforeAll(async () => {
    recipe = await openRecipe('fastify')
    app = await recipe.start('server.js')
  })

  afterAll(() => recipe?.dispose())

  it('signs in with the password and the right code only, and guards a route of Fastify', async () => {
    const browser = request.agent(app.url).set('Accept', 'text/html')
    await browser.get('/').expect(302).expect('Location', '/login')
    const form = { username: 'bob', password: 'a good password' }
    await browser.post('/login').type('form').send(form).expect(302).expect('Location', '/')
    await browser.get('/').expect(303).expect('Location', '/mfa')
    await browser.post('/transfer').set('Accept', 'application/json').expect(401)

    await showEmailCode(browser, recipe)
    expect((await browser.get('/').expect(200)).text).toContain('Signed in as bob.')
    expect((await browser.post('/transfer').expect(200)).text).toBe('Transferred.')
  })

  it('serves no page with a session of Fastify', async () => {
    await recipe.write('other-session.js', OTHER_SESSION)
    expect(JSON.parse(await recipe.node('other-session.js'))).toMatchObject({
      statusCode: 500,
      code: 'ERR_MFA_NO_SESSION',
      message: expect.stringContaining('Mount express-session'),
    })
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const { url } = await recipe.start('server.js', { DATA_DIR: '.data-attack' })
    await expectHeld(url, ['--protected', '/', '--inbox', await inboxAddress(recipe.folder, '.data-attack')])
  })
})
