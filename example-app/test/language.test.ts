import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { challenge } from '../../test/kit/sign-in.js'
import { LANGUAGES } from '../src/language.js'
import { openTestVault, passwordOf, type TestVault } from './kit.js'

let vault: TestVault
beforeAll(async () => {
  vault = await openTestVault()
})
afterAll(() => vault.close())

const choose = (fields: object, headers: Record<string, string> = {}) =>
  vault
    .pages()
    .post('/language')
    .set({ host: 'vault.example', ...headers })
    .send(fields)

describe('the language switch', () => {
  it('is on every page, and says that these pages are in English', async () => {
    for (const path of ['/', '/login', '/inbox', '/nowhere']) {
      const { text } = await vault.pages().get(path)
      expect(text).toContain('Vault’s own pages are in English.')
      for (const [tag, name] of Object.entries(LANGUAGES)) {
        const current = tag === 'en' ? ' aria-current="true"' : ''
        expect(text).toContain(`value="${tag}" lang="${tag}"${current}>${name}</button>`)
      }
    }
  })

  it('shows the second step in the chosen language, whatever the browser prefers', () =>
    everyCase(Object.keys(LANGUAGES), async (to) => {
      const mallory = vault.pages().set('Accept-Language', 'sv, en-GB')
      await mallory
        .post('/login')
        .send({ username: 'mallory', password: passwordOf('mallory') })
        .expect(303)
      // Also during a pending login.
      await mallory.post('/language').send({ to, back: '/mfa' }).expect(303).expect('location', '/mfa')
      const { text } = await mallory.get('/mfa').expect(200)
      expect(text).toContain(`<html lang="${to}"`)
    }))

  it('marks the language of the second step: the chosen one, otherwise that of the browser', async () => {
    const context = vault.pages().set('Accept-Language', 'zh-TW, fr-CA;q=0.5')
    expect((await context.get('/')).text).toContain('lang="fr" aria-current="true">')
    await context.post('/language').send({ to: 'ja' }).expect(303)
    expect((await context.get('/')).text).toContain('lang="ja" aria-current="true">')
  })

  it('shares its choice with the pages of the second step', async () => {
    const nina = vault.pages()
    await nina.post('/mfa/language').send({ language: 'pt-PT' }).expect(303)
    expect((await nina.get('/')).text).toContain('lang="pt-PT" aria-current="true">')
  })

  it('applies to messages', async () => {
    const bob = vault.pages()
    await bob.post('/language').send({ to: 'de' }).expect(303)
    await bob
      .post('/login')
      .send({ username: 'bob', password: passwordOf('bob') })
      .expect(303)
    await challenge(bob, 'sms').expect(303)
    const [newest] = (await vault.context.inbox?.messages({ to: '+12025550122' })) ?? []
    expect(newest?.text).toMatch(/Code|Anmeld/)
    expect(newest?.text).not.toMatch(/Your|sign in/)
  })

  it('leads back to the page where it was used', async () => {
    await choose({ to: 'fr' }, { referer: 'http://vault.example/login?as=bob' })
      .expect(303)
      .expect('location', '/login?as=bob')
    await choose({ to: 'fr', back: '/inbox?to=x' }).expect('location', '/inbox?to=x')
  })

  it('never leads to another site (R15)', () =>
    everyCase(
      [
        [{ back: '//evil.example' }, {}],
        [{ back: 'https://evil.example/' }, {}],
        [{ back: '/\\evil.example' }, {}],
        [{}, { referer: 'https://evil.example/login' }],
        [{}, { referer: 'http://vault.example//evil.example' }],
        [{}, { referer: 'nonsense' }],
        [{}, {}],
      ],
      async ([fields, headers]) => {
        await choose({ to: 'fr', ...fields }, headers)
          .expect(303)
          .expect('location', '/')
      },
    ))

  it('rejects what is no language', () =>
    everyCase([{}, { to: 'tlh' }, { to: 'constructor' }, { to: ['de', 'fr'] }], async (fields) => {
      const answer = await vault.browser().post('/language').send(fields).expect(400)
      expect(answer.body.code).toBe('invalid_request')
      expect(answer.headers['set-cookie']).toBeUndefined()
    }))

  it('stores the choice in a cookie that scripts cannot read', async () => {
    const { headers } = await choose({ to: 'ja' })
    expect(String(headers['set-cookie'])).toMatch(
      /^lang=ja; Max-Age=31536000; Path=\/; .*HttpOnly; SameSite=Lax$/,
    )
  })
})
