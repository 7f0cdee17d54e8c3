import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jsonClient } from '../journeys/kit/json-client.js'
import type { RunningProcess } from '../kit/process.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

describe('the recipe "Nest"', () => {
  let recipe: Recipe
  let service: RecipeService
  let app: RunningProcess

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('nestjs'), serviceForRecipes()])
    expect(await recipe.tsc54('tsconfig.json')).toBe('')
    app = await recipe.start('dist/main.js', service.env)
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
  })

  it('signs a user in with the password and a code, and guards a route', async () => {
    const client = jsonClient(app.url)
    expect((await client.post('/transfer')).body).toMatchObject({ code: 'sign_in_required' })
    const login = await client.post('/login', { username: 'bob', password: 'a good password' })
    expect(login.body).toEqual({ status: 'pending' })
    expect(await client.get('/me')).toMatchObject({ status: 401, body: { code: 'mfa_required' } })
    expect(await client.post('/transfer')).toMatchObject({ status: 401, body: { code: 'mfa_required' } })
    await client.post('/mfa/challenge', { factor: 'sms' })
    const code = await service.newestCode('+447700900102')
    expect((await client.post('/mfa/verify', { code })).body).toMatchObject({ status: 'verified' })
    expect((await client.get('/me')).body).toEqual({ username: 'bob', mfa: 'verified' })
    expect((await client.post('/transfer')).body).toEqual({ status: 'transferred' })
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const own = await serviceForRecipes()
    const { url } = await recipe.start('dist/main.js', { ...own.env })
    await expectHeld(url, ['--body', 'json', '--protected', '/me', '--inbox', own.inbox])
    await own.stop()
  })
})
