import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { TOTP } from 'otpauth'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import { everyCase } from '../kit/every-case.js'
import { codeIn } from '../kit/message-code.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import { type Consumer, ROOT } from '../package/kit.js'
import { blocksOf, followGuide, installedBy, messagesIn, startScript } from './kit.js'

const README = 'README.md'

const INBOX_KEY = 'the-key-of-the-inbox-in-tests'
const PHONE = '+447700900155'
const PUBLIC_URL = 'https://shop.example:8443'

const readJson = async (path: string) => JSON.parse(await readFile(join(ROOT, path), 'utf8'))

describe('the quick start of the README', () => {
  let project: Consumer
  let app: RunningProcess

  beforeAll(async () => {
    project = await followGuide(README)
    app = await startScript(project.folder, 'shop.mjs')
  })

  afterAll(async () => {
    await app?.stop()
    await project?.dispose()
  })

  const browser = () => request.agent(app.url).set('Accept', 'text/html')

  /** Signs in as bob in a new browser, without the second factor. The service may still be starting. */
  async function pending() {
    const agent = browser()
    await agent.get('/').expect(302).expect('Location', '/login')
    expect((await agent.get('/login').expect(200)).text).toContain('Sign in as bob')
    await vi.waitFor(async () => void (await agent.post('/login').expect(302).expect('Location', '/')), {
      timeout: 150_000,
    })
    await agent.get('/').expect(303).expect('Location', '/mfa')
    return agent
  }

  it('is one file of at most 30 lines', async () => {
    const files = await blocksOf(README, 'js')
    expect(files).toHaveLength(1)
    expect(files[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
  })

  it('ends with the QR code of an authenticator app, whose code signs the user in', async () => {
    const agent = await pending()
    await agent.get('/mfa').expect(303).expect('Location', '/mfa/enroll-app')
    expect(existsSync(join(project.folder, '.data'))).toBe(true)
    const start = (await agent.get('/mfa/enroll-app').expect(200)).text
    expect(start).toContain('My shop')
    expect(start).toContain('href="/mfa/keys"')
    await agent.get('/mfa/keys').expect(200)
    await agent.post('/mfa/enroll-app').expect(303).expect('Location', '/mfa/enroll-app/confirm')
    const page = await agent.get('/mfa/enroll-app/confirm').expect(200)
    expect(page.text).toMatch(/<img[^>]+src="data:image\//)
    const [, secret = ''] = /secret=([A-Z2-7]+)/.exec(page.text) ?? []
    const code = new TOTP({ secret }).generate()
    await agent.post('/mfa/enroll-app/confirm').type('form').send({ code }).expect(303)
    expect((await agent.get('/').expect(200)).text).toContain('Hello bob@example.com.')
    const messages = await messagesIn(agent, project)
    expect(messages.map(({ text }) => text).join()).not.toContain(code)
  })

  it('keeps the key of its inbox in a file for its owner, which git ignores with all other data (R145)', async () => {
    await vi.waitFor(() => expect(app.output()).toContain('/mfa/inbox?key='), { timeout: 150_000 })
    const [, key = ''] =
      /codes go to an inbox: http:\/\/localhost:3000\/mfa\/inbox\?key=(\S+)/.exec(app.output()) ?? []
    const file = join(project.folder, '.data/inbox-key')
    expect((await readFile(file, 'utf8')).trim()).toBe(key)
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600')
    expect(await readFile(join(project.folder, '.data/.gitignore'), 'utf8')).toBe('*\n')
  })

  it.skipIf(!hasBrowser)('leads a user in a browser from the sign-in to the QR code and in', async () => {
    const shop = await startScript(project.folder, 'shop.mjs', { DATA_DIR: '.data-browser' })
    const chromium = await openBrowser()
    try {
      const signIn = () => request(shop.url).post('/login').expect(302)
      await vi.waitFor(signIn, { timeout: 150_000 })
      const page = await (await chromium.newContext()).newPage()
      await page.goto(shop.url)
      await page.getByRole('button', { name: 'Sign in as bob' }).click()
      await page.getByRole('button', { name: 'Set up an app' }).click()
      await page.getByRole('img', { name: /QR code/ }).waitFor()
      const [, secret = ''] = /secret=([A-Z2-7]+)/.exec(await page.content()) ?? []
      await page.getByRole('textbox').fill(new TOTP({ secret }).generate())
      await page.getByRole('heading', { name: 'Your app is ready' }).waitFor()
      await page.goto(shop.url)
      await page.getByText('Hello bob@example.com.').waitFor()
    } finally {
      await chromium.close()
      await shop.stop()
    }
  })

  it('serves no inbox in production', async () => {
    const production = await startScript(project.folder, 'shop.mjs', {
      NODE_ENV: 'production',
      DATA_DIR: '.data-production',
      SERVICE_SECRET: randomBytes(32).toString('base64'),
      SERVICE_DELIVERY: 'smtp://localhost:1?from=mfa@example.com',
    })
    try {
      await request(production.url).get('/mfa/inbox').expect(404)
    } finally {
      await production.stop()
    }
  })

  describe('with the change of its second example', () => {
    let messages: RunningProcess

    beforeAll(async () => {
      const text = await readFile(join(ROOT, README), 'utf8')
      const [, diff = ''] = /```diff\n([\s\S]*?)```/.exec(text) ?? []
      const [removed = '', ...added] = diff
        .trimEnd()
        .split('\n')
        .map((line) => line.slice(1))
      const changes = [
        [removed, added.join('\n')],
        // A second user, who has a phone, and other addresses of this machine.
        ['const bob', `const ann = { id: '2', email: 'ann@example.com', phone: '${PHONE}' }\nconst bob`],
        ['done(null, bob)', 'done(null, id === ann.id ? ann : bob)'],
        ['req.logIn(bob', "req.logIn('ann' in req.query ? ann : bob"],
        ["'localhost', ", "'0.0.0.0', "],
        // As docs/options.md has it for users of whom some have a phone.
        [
          "({ email }) => [{ method: 'email', email }]",
          "({ email, phone }) => [{ method: 'email', email }, ...(phone ? [{ method: 'sms', phone }] : [])]",
        ],
        // Where its users open the app.
        ['factors }))', `factors, urls: { publicUrl: '${PUBLIC_URL}' }, notices: { store: 'memory' } }))`],
      ] as const
      let [file = ''] = await blocksOf(README, 'js')
      for (const [from, to] of changes) {
        expect(file).toContain(from)
        file = file.replace(from, () => to)
      }
      await project.write('messages.mjs', file)
      messages = await startScript(project.folder, 'messages.mjs', {
        DATA_DIR: '.data-messages',
        SERVICE_INBOX_KEY: INBOX_KEY,
      })
    })

    afterAll(() => messages?.stop())

    it('signs in with a code by email, and with one by text message for a user who has a phone', () =>
      everyCase(
        [
          ['/login', ['email'], 'email', 'bob@example.com'],
          ['/login?ann', ['email', 'sms'], 'sms', PHONE],
        ] as const,
        async ([path, methods, method, to]) => {
          const agent = request.agent(messages.url).set('Accept', 'text/html')
          // The service may still be starting.
          await vi.waitFor(async () => void (await agent.post(path).expect(302)), { timeout: 150_000 })
          await agent.get('/').expect(303).expect('Location', '/mfa')
          const { body: choice } = await agent.get('/mfa').set('Accept', 'application/json').expect(200)
          expect(choice.factors.map((factor: { method: string }) => factor.method)).toEqual(methods)
          await challenge(agent, method).type('form').expect(303)
          const inbox = agent.get('/mfa/inbox').set('Accept', 'application/json')
          const { body } = await inbox.set('MFA-Inbox-Key', INBOX_KEY).expect(200)
          expect(body.messages[0].to).toBe(to)
          // For browsers and mail programs, which fill the code in.
          expect(body.messages[0].text).toMatch(/\n\n@shop\.example #\d{6}\n?$/)
          await verify(agent, codeIn(body.messages[0].text)).type('form').expect(303)
          expect((await agent.get('/').expect(200)).text).toContain(
            `Hello ${path === '/login' ? 'bob' : 'ann'}@`,
          )
        },
      ))

    it('opens the inbox with the address that it logs, and with nothing else (R145)', async () => {
      const address = `/mfa/inbox?key=${INBOX_KEY}`
      expect(messages.output()).toContain(`codes go to an inbox: ${PUBLIC_URL}${address}\n`)
      const inbox = () => request(messages.url).get('/mfa/inbox')
      // As nginx passes requests on by default: from this machine, for its own name, without a header.
      await inbox().set('Host', 'localhost').expect(404)
      await inbox().set('MFA-Inbox-Key', '').set('Cookie', 'mfa_inbox=').expect(404)
      await request(messages.url).get('/mfa/inbox?key=').expect(404)
      const closed = await inbox().set('Accept', 'text/html').expect(404)
      expect(closed.text).toContain('Open the address that the app logs at its start')
      const browser = request.agent(messages.url).set('Accept', 'text/html')
      const opened = await browser.get(address).expect(303).expect('Location', '/mfa/inbox')
      expect(opened.headers['set-cookie']?.[0]).toMatch(/; Path=\/mfa\/inbox; .*HttpOnly; SameSite=Lax/)
      expect(opened.headers['set-cookie']?.[0]).not.toContain(INBOX_KEY)
      await browser.get('/mfa/inbox').expect(200)
      await inbox().set('X-Forwarded-For', '203.0.113.7').set('MFA-Inbox-Key', INBOX_KEY).expect(200)
    })
  })
})

describe('a guide from an empty folder', () => {
  it('installs the packages under the names that npm pack gives them', () =>
    everyCase([README, 'docs/getting-started.md'], async (guide) => {
      const packages = await Promise.all(['package.json', 'service/package.json'].map(readJson))
      const tarballs = packages.map(
        ({ name, version }) => `../countersign/${name.replace('@', '').replace('/', '-')}-${version}.tgz`,
      )
      expect((await installedBy(guide)).filter((name) => name.endsWith('.tgz'))).toEqual(tarballs)
      expect(packages[0].engines.node).toBe('>=20.19.0')
    }))
})
