import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProcess } from '../kit/process.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe, showEmailCode } from './kit.js'

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

    await showEmailCode(browser)
    expect((await browser.get('/').expect(200)).text).toContain('Signed in as bob.')
    expect((await browser.post('/transfer').expect(200)).text).toBe('Transferred.')
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const { url } = await recipe.start('server.js', { DATA_DIR: '.data-attack' })
    await expectHeld(url, ['--protected', '/', '--inbox', '/inbox'])
  })
})
