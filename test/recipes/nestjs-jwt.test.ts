import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

describe('the recipe "Nest with a JWT guard"', () => {
  let recipe: Recipe
  let service: RecipeService
  let url: string

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('nestjs-jwt'), serviceForRecipes()])
    expect(await recipe.tsc54('tsconfig.json')).toBe('')
    url = (await recipe.start('dist/main.js', service.env)).url
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
  })

  it('gives both tokens after the code, and none before it (R150)', async () => {
    const BOB = { username: 'bob', password: 'a good password' }
    await request(url)
      .post('/auth/login')
      .send({ ...BOB, password: 'wrong' })
      .expect(401)
    const login = await request(url).post('/auth/login').send(BOB).expect(401)
    expect(login.body).toMatchObject({ code: 'mfa_required', login: expect.any(String) })
    expect(login.headers['set-cookie']).toBeUndefined()
    await request(url).get('/me').set('Authorization', `Bearer ${login.body.login}`).expect(401)

    const pending = { 'MFA-Login': login.body.login }
    await request(url).post('/transfer').set(pending).expect(401)
    await request(url).post('/mfa/challenge').set(pending).send({ factor: 'sms' }).expect(200)
    const code = await service.newestCode('+447700900102')
    const { body } = await request(url).post('/mfa/verify').set(pending).send({ code }).expect(200)
    const bearer = { Authorization: `Bearer ${body.accessToken}` }
    await request(url).get('/me').set(bearer).expect(200, { username: 'bob' })
    await request(url).post('/transfer').set(bearer).expect(200, { status: 'transferred' })

    const { refreshToken } = body
    const again = await request(url).post('/auth/refresh').send({ refreshToken }).expect(200)
    await request(url)
      .post('/transfer')
      .set('Authorization', `Bearer ${again.body.accessToken}`)
      .expect(200, { status: 'transferred' })
    await request(url).post('/auth/refresh').send({ refreshToken }).expect(401)
  })
})
