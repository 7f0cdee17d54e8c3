import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasMovableClock, movableClock } from '../journeys/kit/clock.js'
import { jsonClient } from '../journeys/kit/json-client.js'
import { BROWSERS_OF_APPS } from '../kit/browsers.js'
import type { RunningProcess } from '../kit/process.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

describe('the recipe "a single-page app"', () => {
  let recipe: Recipe
  let service: RecipeService
  let app: RunningProcess
  const { path, remove } = temporaryFolder()
  const clock = movableClock(path)

  beforeAll(async () => {
    ;[recipe, service] = await Promise.all([openRecipe('spa-typescript'), serviceForRecipes()])
    expect(await recipe.tsc()).toBe('')
    app = await recipe.start('dist/server.js', { ...service.env, ...(hasMovableClock() && clock.env) })
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
    remove()
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

  describe.each(BROWSERS_OF_APPS)('in $name', ({ isThere, open }) => {
    it.skipIf(!isThere || !hasMovableClock())(
      'signs a user in, and asks for a fresh code in a pop-up',
      async () => {
        clock.ahead(0)
        const browser = await open()
        onTestFinished(() => browser.close())
        const page = await (await browser.newContext()).newPage()
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

        clock.ahead(6 * 60)
        const pressed = () =>
          Promise.all([page.waitForEvent('popup'), page.getByRole('button', { name: 'Transfer' }).click()])
        const [canceled] = await pressed()
        await canceled.getByRole('button', { name: /^Text a code/ }).waitFor()
        await canceled.close()
        await page.getByText('You canceled').waitFor()
        const [popUp] = await pressed()
        await popUp.getByRole('button', { name: /^Text a code/ }).click()
        const field = popUp.getByLabel('Verification code')
        await field.waitFor()
        await field.fill(await service.newestCode('+447700900102'))
        await page.getByText('Transferred.').waitFor()
      },
    )
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const own = await serviceForRecipes()
    const { url } = await recipe.start('dist/server.js', { ...own.env })
    await expectHeld(url, [
      '--sign-in',
      'POST /api/login username=bob&password=$BOB',
      '--body',
      'json',
      '--protected',
      '/api/me',
      '--inbox',
      own.inbox,
    ])
    await own.stop()
  })
})
