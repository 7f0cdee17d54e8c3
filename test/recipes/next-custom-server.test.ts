import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunningProcess } from '../kit/process.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { inboxAddress, openRecipe, type Recipe, showEmailCode } from './kit.js'

/** Takes the place of Next, of which the recipe's server knows `prepare` and the request handler only. */
const STAND_IN = `
import transfer from '../../pages/api/transfer.js'

export default () => ({
  prepare: async () => {},
  getRequestHandler: () => async (req, res) => {
    if (req.path === '/api/transfer') transfer(req, res)
    else res.send('The page ' + req.path + ' of ' + (req.user?.username ?? 'nobody') + '.')
  },
})
`

describe('the recipe "Next behind a custom server", with a stand-in for Next', () => {
  let recipe: Recipe
  let app: RunningProcess

  beforeAll(async () => {
    recipe = await openRecipe('next-custom-server', { missing: ['next', 'react', 'react-dom'] })
    await recipe.write('node_modules/next/package.json', '{ "type": "module", "main": "index.js" }')
    await recipe.write('node_modules/next/index.js', STAND_IN)
    app = await recipe.start('server.js')
  })

  afterAll(() => recipe?.dispose())

  it('shows pages and API routes after the password and the right code only', async () => {
    const browser = request.agent(app.url).set('Accept', 'text/html')
    const guarded = ['/', '/_next/data/1/index.json']
    for (const path of guarded) await browser.get(path).expect(302).expect('Location', '/login')
    expect((await browser.get('/login').expect(200)).text).toBe('The page /login of nobody.')
    const form = { username: 'bob', password: 'a good password' }
    await browser.post('/login').type('form').send(form).expect(302).expect('Location', '/')
    for (const path of guarded) await browser.get(path).expect(303).expect('Location', '/mfa')
    await browser.post('/api/transfer').set('Accept', 'application/json').expect(401)

    await showEmailCode(browser, recipe)
    expect((await browser.get('/').expect(200)).text).toBe('The page / of bob.')
    expect((await browser.post('/api/transfer').expect(200)).body).toEqual({ transferredBy: 'bob' })
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const { url } = await recipe.start('server.js', { DATA_DIR: '.data-attack' })
    await expectHeld(url, ['--protected', '/', '--inbox', await inboxAddress(recipe.folder, '.data-attack')])
  })
})
