import pg from 'pg'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing, startPostgres } from '../../service/test/postgres.js'
import { totpCode } from '../../src/testing/service.js'
import { byCode, sendApproved } from '../kit/approved-change.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

describe.skipIf(postgresMissing)('the recipe "PostgreSQL"', () => {
  let recipe: Recipe
  let service: RecipeService
  let database: Awaited<ReturnType<typeof startPostgres>>
  const start = (): Promise<RunningProcess> =>
    recipe.start('server.js', { ...service.env, DATABASE_URL: database.url })

  beforeAll(async () => {
    ;[recipe, service, database] = await Promise.all([
      openRecipe('postgresql'),
      serviceForRecipes(),
      startPostgres(),
    ])
  })

  afterAll(async () => {
    await recipe?.dispose()
    await service?.stop()
    await database?.stop()
  })

  it('keeps sessions, counters and factors over a restart', async () => {
    const first = await start()
    const browser = request.agent(first.url).set('Accept', 'text/html')
    const password = { username: 'bob', password: 'a good password' }
    await browser.post('/login').type('form').send(password).expect(302).expect('Location', '/')
    await browser.get('/').expect(303).expect('Location', '/mfa')
    await challenge(browser, 'email').type('form').expect(303)
    const wrong = await verify(browser, '000000').set('Accept', 'application/json')
    expect(wrong.body).toMatchObject({ code: 'invalid_code', attemptsLeft: 4 })
    const code = await service.newestCode('bob@example.com')
    await verify(browser, code).type('form').expect(303)

    const enroll = () => browser.post('/mfa/enroll-app').set('Accept', 'application/json').send({})
    const approve = byCode(browser, () => service.newestCode('bob@example.com'))
    const { body } = await sendApproved(browser, enroll, approve)
    const confirmed = browser.post('/mfa/enroll-app/confirm').set('Accept', 'application/json')
    await confirmed.send({ code: totpCode(body.secret) }).expect(200)
    await first.stop()
    const pool = new pg.Pool({ connectionString: database.url })
    const { rows } = await pool.query('SELECT count(*)::int AS counters FROM mfa_counters')
    await pool.end()
    expect(rows[0].counters).toBeGreaterThan(0)

    const second = await start()
    const cookies = browser.jar.getCookies({ domain: 'localhost', path: '/', secure: false, script: false })
    const again = request.agent(second.url).set('Accept', 'text/html')
    again.jar.setCookies(cookies.map(String))
    expect((await again.get('/').expect(200)).text).toContain('Signed in as bob.')
    const factors = await again.get('/mfa').set('Accept', 'application/json').expect(200)
    expect(factors.body.factors.map(({ id }: { id: string }) => id)).toEqual(['app', 'email'])
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    const own = await serviceForRecipes()
    const { url } = await recipe.start('server.js', { ...own.env, DATABASE_URL: database.url })
    await expectHeld(url, ['--protected', '/', '--inbox', own.inbox])
    await own.stop()
  })
})
