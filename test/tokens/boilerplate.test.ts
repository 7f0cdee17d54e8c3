import { execFileSync } from 'node:child_process'
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Express as App } from 'express'
import request from 'supertest'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Mfa, MfaService } from '../../src/index.js'
import { type MfaTestKit, mfaTestKit } from '../../src/testing/index.js'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { tokenClient } from './kit.js'

/** A user of the boilerplate. */
interface Account {
  readonly id: string
  readonly email: string
  readonly phone: string
}

const SOURCE = fileURLToPath(new URL('boilerplate', import.meta.url))
const PATCH = join(SOURCE, 'mfa.patch')

const kit: MfaTestKit = mfaTestKit()
afterEach(() => kit.reset())

/** The app with the patch, or as it was without it. */
async function boilerplate({ patched = true } = {}): Promise<{ app: App; mfa: Mfa<Account> }> {
  const { path: folder, remove } = temporaryFolder()
  onTestFinished(remove)
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))
  copyFileSync(join(SOURCE, 'app.mjs'), join(folder, 'app.mjs'))
  if (patched) execFileSync('git', ['apply', PATCH], { cwd: folder })
  const { createApp } = await import(pathToFileURL(join(folder, 'app.mjs')).href)
  const service: MfaService = kit.service
  return createApp({ secret: 'only for tests', mfa: service })
}

/** Signs Bob, or another user, in with the password alone. */
const signIn = (app: App, email = 'bob@example.com', password = 'password1') =>
  tokenClient(app).post('/v1/auth/login').send({ email, password })

/** Shows a factor for a login. */
async function showFactor(client: ReturnType<typeof tokenClient>, factor = 'email') {
  await client.post('/mfa/challenge').send({ factor }).expect(200)
  return client.post('/mfa/verify').send({ code: kit.inbox.newest().code })
}

async function signInFully(app: App, factor?: string): Promise<{ access: string; refresh: string }> {
  const { body } = await signIn(app).expect(401)
  const answer = await showFactor(tokenClient(app, { login: body.login }), factor)
  expect(answer.status).toBe(200)
  return answer.body
}

describe('a boilerplate with Passport, access tokens and refresh tokens', () => {
  it('gets a second factor by at most 15 more lines, and as few changed ones', () => {
    const runs = readFileSync(PATCH, 'utf8').split(/^(?:[ @].*|(?:---|\+\+\+) .*)$/m)
    const count = (run: string, sign: string) =>
      run.split('\n').filter((line) => line.startsWith(sign)).length
    const sums = runs.map((run) => ({ more: count(run, '+') - count(run, '-'), changed: count(run, '-') }))
    const sum = (name: 'more' | 'changed') => sums.reduce((before, run) => before + run[name], 0)
    expect({ more: sum('more'), changed: sum('changed') }).toEqual({ more: 15, changed: 8 })
  })

  it('signed in by the password alone before', async () => {
    const { app } = await boilerplate({ patched: false })
    const { body } = await signIn(app).expect(200)
    await tokenClient(app, { access: body.access }).post('/v1/accounts').expect(201)
    await tokenClient(app).post('/v1/auth/refresh-tokens').send({ refreshToken: body.refresh }).expect(200)
  })

  it('R150: has the client keep no cookie, from the password to a new access token', async () => {
    const { app } = await boilerplate()
    const begun = await signIn(app).expect(401)
    expect(Object.keys(begun.body)).not.toContain('access')
    const shown = await showFactor(tokenClient(app, { login: begun.body.login }))
    const refreshed = await request(app)
      .post('/v1/auth/refresh-tokens')
      .send({ refreshToken: shown.body.refresh })
      .expect(200)
    for (const { headers } of [begun, shown, refreshed]) expect(headers['set-cookie']).toBeUndefined()
    await tokenClient(app, { access: refreshed.body.access }).get('/v1/users/me').expect(200, { id: '1' })
  })

  it('R151: gives no tokens after the logout, by whatever the client has', async () => {
    const { app } = await boilerplate()
    const begun = await signIn(app).expect(401)
    const client = tokenClient(app, { login: begun.body.login })
    const { body } = await showFactor(client)
    await request(app).post('/v1/auth/logout').send({ refreshToken: body.refresh }).expect(204)
    await request(app).post('/v1/auth/refresh-tokens').send({ refreshToken: body.refresh }).expect(401)
    await client.post('/mfa/challenge').send({ factor: 'email' }).expect(401)
    await client.get('/mfa').expect(401)
  })

  it('R151: has a step-up that a token satisfies', async () => {
    const { app } = await boilerplate()
    const { access } = await signInFully(app)
    kit.clock.advance('6m')
    const { body } = await tokenClient(app, { access }).post('/v1/accounts').expect(401)
    expect(body).toMatchObject({ code: 'step_up_required', factors: [{ id: 'email' }, { id: 'sms' }] })
    const shown = await showFactor(tokenClient(app, { access, login: body.login }), 'sms')
    expect(Object.keys(shown.body)).toEqual(['access'])
    await tokenClient(app, { access: shown.body.access }).post('/v1/accounts').expect(201)
  })

  it("R143: counts no one's factor for the user of another token", async () => {
    const { app } = await boilerplate()
    const { access } = await signInFully(app)
    kit.clock.advance('6m')
    const asked = await tokenClient(app, { access }).post('/v1/accounts').expect(401)
    const hers = await signIn(app, 'alice@example.com', 'password2').expect(401)
    for (const login of [hers.body.login, undefined]) {
      const client = tokenClient(app, { access, ...(login && { login }) })
      expect((await client.post('/v1/accounts').expect(401)).body.code).toBe('step_up_required')
    }
    const both = tokenClient(app, { access, login: hers.body.login })
    expect((await both.post('/mfa/verify').send({ code: '000000' }).expect(403)).body.code).toBe('other_user')
    const alices = await showFactor(tokenClient(app, { login: hers.body.login }))
    const mixed = tokenClient(app, { access: alices.body.access, login: asked.body.login })
    await mixed.post('/mfa/challenge').send({ factor: 'email' }).expect(403)
  })

  it('R152: ends its tokens with the sessions of their user', async () => {
    const { app, mfa } = await boilerplate()
    const { access, refresh } = await signInFully(app)
    await mfa.account.secure({ id: '1', email: 'bob@example.com', phone: '+447700900102' })
    kit.clock.advance('10s')
    const { body } = await tokenClient(app, { access }).post('/v1/accounts').expect(401)
    expect(body.code).toBe('session_ended')
    await request(app).post('/v1/auth/refresh-tokens').send({ refreshToken: refresh }).expect(401)
  })

  it('signs users in by codes that are sent, and by an authenticator app', async () => {
    const { app } = await boilerplate()
    for (const factor of ['email', 'sms']) expect((await signInFully(app, factor)).refresh).toBeDefined()
    kit.apps.enroll('bob@example.com')
    const { body } = await signIn(app).expect(401)
    expect(body.factors).toContainEqual(expect.objectContaining({ id: 'app' }))
    const code = kit.apps.code('bob@example.com')
    await tokenClient(app, { login: body.login })
      .post('/mfa/verify')
      .send({ factor: 'app', code })
      .expect(200)
  })
})
