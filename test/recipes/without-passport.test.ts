import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProcess } from '../kit/process.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { inboxAddress, openRecipe, type Recipe, showEmailCode } from './kit.js'

describe('the recipe "without Passport"', () => {
  let recipe: Recipe
  let app: RunningProcess

  beforeAll(async () => {
    recipe = await openRecipe('without-passport')
    app = await recipe.start('server.js')
  })

  afterAll(() => recipe?.dispose())

  /** Submits the password in a new browser. */
  async function passwordOnly(password = 'a good password') {
    const browser = request.agent(app.url).set('Accept', 'text/html')
    const form = { username: 'bob', password }
    const answer = await browser.post('/login').type('form').send(form).expect(302)
    return { browser, location: answer.headers.location }
  }

  it('signs in with the password and the right code only, and its guard still reads req.session.userId', async () => {
    const { browser, location } = await passwordOnly()
    expect(location).toBe('/')
    await browser.get('/').expect(303).expect('Location', '/mfa')
    await showEmailCode(browser, recipe)
    expect((await browser.get('/').expect(200)).text).toContain('Signed in as bob.')
    await browser.post('/logout').expect(302)
    await browser.get('/').expect(302).expect('Location', '/login')
  })

  it('stays at the login after a wrong password', async () => {
    const { browser, location } = await passwordOnly('a bad password')
    expect(location).toBe('/login')
    await browser.get('/').expect(302).expect('Location', '/login')
  })

  it('lets nobody in by a user id that an earlier release stored, or that a forgotten login route writes', async () => {
    const server = await readFile(join(recipe.folder, 'server.js'), 'utf8')
    const before = `app.get('/stored', (req, res) => { req.session.userId = '1'; res.send('stored') })\napp.use(userIdFromGate) // 5`
    const after = `app.post('/forgotten', (req, res) => { req.session.userId = '1'; res.send('in') })\n// The guard`
    await recipe.write(
      'forgotten.js',
      server.replace('app.use(userIdFromGate) // 5', before).replace('// The guard', after),
    )
    const { url } = await recipe.start('forgotten.js', { DATA_DIR: '.data-forgotten' })
    const browser = request.agent(url).set('Accept', 'text/html')
    await browser.get('/stored').expect(200)
    await browser.get('/').expect(302).expect('Location', '/login')
    await browser.post('/forgotten').expect(500)
    await browser.get('/').expect(302).expect('Location', '/login')
  })

  it('numbers its six lines', async () => {
    const server = await readFile(join(recipe.folder, 'server.js'), 'utf8')
    const numbers = [...server.matchAll(/ \/\/ (\d)$/gm)].map(([, number]) => number)
    expect(numbers).toEqual(['1', '2', '3', '4', '5', '6'])
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const { url } = await recipe.start('server.js', { DATA_DIR: '.data-attack' })
    await expectHeld(url, ['--protected', '/', '--inbox', await inboxAddress(recipe.folder, '.data-attack')])
  })
})
