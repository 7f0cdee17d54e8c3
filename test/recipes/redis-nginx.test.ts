import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fileOf, missing } from '../kit/debian-packages.js'
import { freePort } from '../kit/loopback.js'
import { PATIENCE_MS } from '../kit/patience.js'
import { startRedis } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import { ATTACKS_EVERY_RECIPE, expectHeld } from './attack.js'
import { openRecipe, type Recipe } from './kit.js'
import { type RecipeService, serviceForRecipes } from './service.js'

/** Starts nginx with the recipe's configuration, on other ports. */
async function startNginx(recipe: Recipe, upstreams: readonly string[]) {
  const url = `http://127.0.0.1:${await freePort()}`
  const config = await readFile(join(recipe.folder, 'nginx.conf'), 'utf8')
  await recipe.write(
    'nginx.conf',
    config
      .replace('127.0.0.1:8080', new URL(url).host)
      .replace('127.0.0.1:3001', new URL(upstreams[0] ?? '').host)
      .replace('127.0.0.1:3002', new URL(upstreams[1] ?? '').host),
  )
  const args = ['-c', join(recipe.folder, 'nginx.conf'), '-p', recipe.folder]
  const process = spawn(fileOf('nginx-light') ?? 'nginx', args, { stdio: 'ignore' })
  return { url, process }
}

describe.skipIf(missing('nginx-light', 'redis-server'))('the recipe "two processes behind nginx"', () => {
  let recipe: Recipe
  let service: RecipeService
  let redis: Awaited<ReturnType<typeof startRedis>>
  let nginx: { readonly url: string; readonly process: ChildProcess }

  beforeAll(async () => {
    ;[recipe, service, redis] = await Promise.all([
      openRecipe('redis-nginx'),
      serviceForRecipes(),
      startRedis(),
    ])
    const env = { ...service.env, REDIS_URL: redis.url }
    const apps = await Promise.all([recipe.start('server.js', env), recipe.start('server.js', env)])
    nginx = await startNginx(
      recipe,
      apps.map(({ url }) => url),
    )
    await vi.waitFor(() => fetch(nginx.url), { timeout: PATIENCE_MS, interval: 20 })
  })

  afterAll(async () => {
    if (nginx) {
      const gone = once(nginx.process, 'exit')
      nginx.process.kill('SIGTERM')
      await gone
    }
    await recipe?.dispose()
    await redis?.stop()
    await service?.stop()
  })

  it('signs a user in through both processes, and counts wrong codes in both together', async () => {
    const browser = request.agent(nginx.url).set('Accept', 'text/html')
    const processes = new Set<string | undefined>()
    const note = (answer: request.Response) => void processes.add(answer.headers['x-process'])

    const password = { username: 'bob', password: 'a good password' }
    note(await browser.post('/login').type('form').send(password).expect(302).expect('Location', '/'))
    note(await browser.get('/').expect(303).expect('Location', '/mfa'))
    note(await challenge(browser, 'sms').type('form').expect(303))
    for (const attemptsLeft of [4, 3, 2, 1]) {
      const wrong = browser.post('/mfa/verify').set('Accept', 'application/json').set('Origin', nginx.url)
      const answer = await wrong.send({ code: '000000' }).expect(401)
      expect(answer.body).toMatchObject({ code: 'invalid_code', attemptsLeft })
      note(answer)
    }
    const code = await service.newestCode('+447700900102')
    note(await verify(browser, code).type('form').expect(303).expect('Location', '/'))
    for (let visit = 0; visit < 4; visit++) {
      const page = await browser.get('/').expect(200)
      expect(page.text).toContain('Signed in as bob.')
      note(page)
    }
    expect(processes.size).toBe(2)
  })

  it.runIf(ATTACKS_EVERY_RECIPE)('holds when it is attacked', async () => {
    await expectHeld(nginx.url, ['--protected', '/', '--inbox', service.inbox])
  })
})
