import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

/** The client of the recipe, as its file exports it. */
interface ApiClient {
  signIn(username: string, password: string): Promise<void>
  refresh(): Promise<void>
  request(path: string, body?: object): Promise<unknown>
}

describe('the recipe "JWT API"', () => {
  let recipe: Recipe
  let service: RecipeService
  let url: string
  let asked = 0
  let newClient: () => ApiClient

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('jwt-api'), serviceForRecipes()])
    url = (await recipe.start('server.js', service.env)).url
    const { apiClient } = await import(pathToFileURL(join(recipe.folder, 'client.js')).href)
    newClient = () =>
      apiClient(url, () => {
        asked++
        return service.newestCode('bob@example.com')
      })
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
  })

  it('signs a client without cookies in with password and code, and gives it both tokens after the code (R150)', async () => {
    const login = await request(url)
      .post('/auth/login')
      .send({ username: 'bob', password: 'a good password' })
    expect(login.status).toBe(401)
    expect(login.body).toMatchObject({ code: 'mfa_required', login: expect.any(String) })
    expect(login.headers['set-cookie']).toBeUndefined()
    expect(JSON.stringify(login.body)).not.toMatch(/accessToken|refreshToken/)
    await request(url).get('/me').set('Authorization', `Bearer ${login.body.login}`).expect(401)

    const client = newClient()
    await client.signIn('bob', 'a good password')
    expect(asked).toBe(1)
    expect(await client.request('/me')).toEqual({ username: 'bob' })
    expect(await client.request('/transfer', {})).toEqual({ status: 'transferred' })
    await client.refresh()
    expect(await client.request('/me')).toEqual({ username: 'bob' })
    await expect(newClient().signIn('bob', 'a wrong password')).rejects.toThrow('401')
  })

  it('ends the tokens of other clients with a new password (R151)', async () => {
    const [own, other] = [newClient(), newClient()]
    await own.signIn('bob', 'a good password')
    await other.signIn('bob', 'a good password')
    expect(await own.request('/password', { password: 'a new password' })).toEqual({ status: 'changed' })
    await expect(other.request('/transfer', {})).rejects.toMatchObject({ code: 'session_ended' })
    await expect(other.refresh()).rejects.toMatchObject({ status: 401 })
    expect(await own.request('/transfer', {})).toEqual({ status: 'transferred' })
  })
})
