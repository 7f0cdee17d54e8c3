import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { jsonClient } from '../journeys/kit/json-client.js'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import type { RunningProcess } from '../kit/process.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

describe('the recipe "a single-page app"', () => {
  let recipe: Recipe
  let service: RecipeService
  let app: RunningProcess

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('spa-typescript'), serviceForRecipes()])
    expect(await recipe.tsc()).toBe('')
    app = await recipe.start('dist/server.js', service.env)
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
  })

  it('signs a user in by JSON, and responds 401 with a code until then', async () => {
    const client = jsonClient(app.url)
    expect((await client.get('/api/me')).body).toEqual({ code: 'sign_in_required' })
    const login = await client.post('/api/login', { username: 'bob', password: 'a good password' })
    expect(login.body).toEqual({ status: 'pending' })
    expect(await client.get('/api/me')).toMatchObject({ status: 401, body: { code: 'mfa_required' } })
    const { body } = await client.get('/mfa')
    expect(body.factors.map(({ id }: { id: string }) => id)).toEqual(['sms', 'email'])
    await client.post('/mfa/challenge', { factor: 'sms' })
    const code = await service.newestCode('+447700900102')
    expect((await client.post('/mfa/verify', { code })).body).toMatchObject({ status: 'verified' })
    expect((await client.get('/api/me')).body).toEqual({ username: 'bob', mfa: 'verified' })
    expect((await client.post('/api/transfer')).body).toEqual({ status: 'transferred' })
  })

  it.skipIf(!hasBrowser)('signs a user in in a browser, who stays signed in after a reload', async () => {
    const browser = await openBrowser()
    onTestFinished(() => browser.close())
    const page = await browser.newPage()
    await page.goto(app.url)
    await page.getByLabel('Name').fill('bob')
    await page.getByLabel('Password').fill('a good password')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: /^email/ }).click()
    await page.getByLabel('Code').fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('attempts left').waitFor()
    await page.getByLabel('Code').fill(await service.newestCode('bob@example.com'))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('Signed in as bob.').waitFor()
    await page.reload()
    await page.getByRole('button', { name: 'Transfer' }).click()
    await page.getByText('Transferred.').waitFor()
  })
})
