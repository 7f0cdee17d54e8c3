import { readFile } from 'node:fs/promises'
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
import { blocksOf, followGuide, installedBy, startScript } from './kit.js'

const README = 'README.md'

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

  it('is one file of at most 20 lines', async () => {
    const files = await blocksOf(README, 'js')
    expect(files).toHaveLength(1)
    expect(files[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
  })

  it('ends with the QR code of an authenticator app, whose code signs the user in', async () => {
    const agent = await pending()
    await agent.get('/mfa').expect(303).expect('Location', '/mfa/enroll-app')
    expect((await agent.get('/mfa/enroll-app').expect(200)).text).toContain('My shop')
    await agent.post('/mfa/enroll-app').expect(303).expect('Location', '/mfa/enroll-app/confirm')
    const page = await agent.get('/mfa/enroll-app/confirm').expect(200)
    expect(page.text).toMatch(/<img[^>]+src="data:image\//)
    const [, secret = ''] = /secret=([A-Z2-7]+)/.exec(page.text) ?? []
    const code = new TOTP({ secret }).generate()
    await agent.post('/mfa/enroll-app/confirm').type('form').send({ code }).expect(303)
    expect((await agent.get('/').expect(200)).text).toContain('Hello bob@example.com.')
    expect((await agent.get('/mfa/inbox').expect(200)).text).not.toContain(code)
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

  it('signs in with a code by email after the change of the second example', async () => {
    const text = await readFile(join(ROOT, README), 'utf8')
    const [, diff = ''] = /```diff\n([\s\S]*?)```/.exec(text) ?? []
    const [removed, ...added] = diff
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(1))
    const [file = ''] = await blocksOf(README, 'js')
    expect(file).toContain(removed)
    await project.write('messages.mjs', file.replace(removed ?? '', added.join('\n')))
    const messages = await startScript(project.folder, 'messages.mjs', { DATA_DIR: '.data-messages' })
    try {
      const agent = request.agent(messages.url).set('Accept', 'text/html')
      await vi.waitFor(async () => void (await agent.post('/login').expect(302)), { timeout: 150_000 })
      await agent.get('/').expect(303).expect('Location', '/mfa')
      await challenge(agent, 'email').type('form').expect(303)
      const { body } = await agent.get('/mfa/inbox').set('Accept', 'application/json').expect(200)
      expect(body.messages[0].to).toBe('bob@example.com')
      await verify(agent, codeIn(body.messages[0].text)).type('form').expect(303)
      expect((await agent.get('/').expect(200)).text).toContain('Hello bob@example.com.')
      await agent.get('/mfa/inbox').set('X-Forwarded-For', '203.0.113.7').expect(404)
      await agent.get('/mfa/inbox').set('Host', 'rebound.example').expect(404)
    } finally {
      await messages.stop()
    }
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
