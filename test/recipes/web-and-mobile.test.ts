import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

const BOB = { username: 'bob', password: 'a good password' }

describe('the recipe "Web app and mobile app"', () => {
  let recipe: Recipe
  let service: RecipeService
  let url: string

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('web-and-mobile'), serviceForRecipes()])
    url = (await recipe.start('server.js', service.env)).url
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
  })

  it('signs a browser in with a session, whose guard is that of tokens', async () => {
    const browser = request.agent(url).set('Accept', 'application/json')
    await browser.post('/login').type('form').send(BOB).expect(302)
    expect((await browser.post('/transfer').expect(401)).body.code).toBe('mfa_required')
    await browser.post('/mfa/challenge').send({ factor: 'email' }).expect(200)
    const code = await service.newestCode('bob@example.com')
    await browser.post('/mfa/verify').send({ code }).expect(200)
    await browser.get('/').expect(200, { username: 'bob' })
    await browser.post('/transfer').expect(200, { status: 'transferred' })
    await browser.post('/logout').expect(302)
    await browser.post('/transfer').expect(401)
  })

  it('signs a mobile app in with tokens on the same routes, without a cookie (R150)', async () => {
    const login = await request(url).post('/auth/login').send(BOB).expect(401)
    expect(login.body).toMatchObject({ code: 'mfa_required', login: expect.any(String) })
    const pending = { 'MFA-Login': login.body.login }
    await request(url).post('/transfer').set(pending).expect(401)
    await request(url).get('/').set('Authorization', `Bearer ${login.body.login}`).expect(401)
    await request(url).post('/mfa/challenge').set(pending).send({ factor: 'email' }).expect(200)
    const code = await service.newestCode('bob@example.com')
    const { body, headers } = await request(url).post('/mfa/verify').set(pending).send({ code }).expect(200)
    expect(headers['set-cookie']).toBeUndefined()
    const bearer = { Authorization: `Bearer ${body.accessToken}` }
    await request(url).get('/').set(bearer).expect(200, { username: 'bob' })
    await request(url).post('/transfer').set(bearer).expect(200, { status: 'transferred' })
    const { refreshToken } = body
    const again = await request(url).post('/auth/refresh').send({ refreshToken }).expect(200)
    await request(url).get('/').set('Authorization', `Bearer ${again.body.accessToken}`).expect(200)
    await request(url).post('/auth/refresh').send({ refreshToken }).expect(401)
  })

  it('takes no reference beside the session of a user', async () => {
    const browser = request.agent(url).set('Accept', 'application/json')
    await browser.post('/login').type('form').send(BOB).expect(302)
    const login = await request(url).post('/auth/login').send(BOB).expect(401)
    await browser.get('/mfa').set('MFA-Login', login.body.login).expect(400)
    await request(url).get('/mfa').set('MFA-Login', login.body.login).expect(200)
  })
})
