import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { hasBrowser, openBrowser } from '../kit/chromium.js'
import type { RunningProcess } from '../kit/process.js'
import { type TemporaryFolder, temporaryFolder } from '../kit/temporary-folder.js'
import { appCode } from './kit/authenticator.js'
import { LOOKS, newUser, snap } from './kit/browser.js'
import { hasMovableClock, type MovableClock, movableClock } from './kit/clock.js'
import { jsonClient } from './kit/json-client.js'
import { runToEnd, startApp, startService } from './kit/process.js'
import { codeIn, passwordOf, passwordStep, typeCode } from './kit/vault.js'

const KEY = 'a-test-key-of-at-least-32-characters'
const SECRET = 'a test secret of at least 32 characters'

/** The app and the service are two processes that use the published API, and send email over SMTP. */
describe.skipIf(!hasMovableClock())('the example app with the service in another process', () => {
  const mails: { to: string; text: string; subject: string }[] = []
  let smtp: SMTPServer
  let service: RunningProcess
  let app: RunningProcess
  let folder: TemporaryFolder
  let clock: MovableClock
  let serviceEnv: Record<string, string>

  beforeAll(async () => {
    folder = temporaryFolder()
    clock = movableClock(folder.path)
    smtp = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, session, done) {
        const chunks: Buffer[] = []
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('end', async () => {
          const mail = await PostalMime.parse(Buffer.concat(chunks))
          const [to] = session.envelope.rcptTo
          mails.unshift({ to: to?.address ?? '', text: mail.text ?? '', subject: mail.subject ?? '' })
          done()
        })
      },
    })
    await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
    const { port } = smtp.server.address() as AddressInfo
    serviceEnv = {
      SERVICE_API_KEY: KEY,
      SERVICE_SECRET: SECRET,
      SERVICE_DELIVERY: `email=smtp://127.0.0.1:${port}?from=mfa@vault.example,*=inbox`,
      DATA_DIR: `${folder.path}/service`,
      ...clock.env,
    }
    service = await startService(serviceEnv)
    app = await startApp({
      MFA_BASE_URL: service.url,
      MFA_API_KEY: KEY,
      DATA_DIR: `${folder.path}/app`,
      ...clock.env,
    })
  })

  afterAll(async () => {
    await app.stop()
    await service.stop()
    await new Promise<void>((resolve) => smtp.close(resolve))
    folder.remove()
  })

  const passwordOnly = async (name: string) => {
    const client = jsonClient(app.url)
    const login = await client.post('/login', { username: name, password: passwordOf(name) })
    expect(login.body).toMatchObject({ status: 'mfa_required' })
    return client
  }

  const textTo = async (phone: string): Promise<string> => {
    const response = await fetch(`${service.url}/v1/test/inbox?to=${encodeURIComponent(phone)}`, {
      headers: { authorization: `Bearer ${KEY}` },
    })
    const { messages } = (await response.json()) as { messages: { text: string }[] }
    return messages.map(({ text }) => codeIn(text)).find((code) => code.length === 6) ?? ''
  }

  it('signs alice in by an email that an SMTP server received', async () => {
    const client = await passwordOnly('alice')
    const challenged = await client.challenge('email')
    expect(challenged).toMatchObject({ status: 200, body: { status: 'challenged', to: 'a…e@vault.example' } })
    const mail = mails.find(({ subject }) => /\d{6}/.test(subject))
    expect(mail?.to).toBe('alice@vault.example')
    expect(codeIn(mail?.text ?? '')).toBe(codeIn(mail?.subject ?? ''))
    const verified = await client.verify(codeIn(mail?.text ?? ''))
    expect(verified).toMatchObject({ status: 200, body: { status: 'verified' } })
    const me = await client.get('/me')
    expect(me.body).toMatchObject({
      user: { username: 'alice' },
      mfa: { status: 'verified', amr: ['pwd', 'otp', 'mfa'] },
    })
  })

  it.each(['alice', 'otto'])(
    'signs %s in by the app that the seed enrolled at that service',
    async (name) => {
      const seeded = new RegExp(`^${name} has an authenticator app with the secret (\\w+)$`, 'm').exec(
        app.output(),
      )
      const client = await passwordOnly(name)
      const secret = seeded?.[1] ?? ''
      const verified = await client.verify(appCode(secret), 'app')
      expect(verified.body).toMatchObject({ status: 'verified' })
      const env = { DATA_DIR: `${folder.path}/app` }
      expect(await runToEnd(['example-app/dist/commands/code.js', name], env)).toContain(`(secret ${secret})`)
    },
  )

  it('evaluates five of 200 wrong codes that arrive at once, and then refuses the right one (R22)', async () => {
    const client = await passwordOnly('bob')
    await client.challenge('sms')
    const right = await textTo('+12025550122')
    expect(right).toMatch(/^\d{6}$/)
    const wrong = Array.from({ length: 200 }, (_, index) => String(index).padStart(6, '0')).map((code) =>
      code === right ? '999999' : code,
    )
    const replies = await Promise.all(wrong.map((code) => client.verify(code)))
    const codes = replies.map(({ body }) => body.code)
    expect(codes.filter((code) => code === 'invalid_code')).toHaveLength(5)
    expect(codes.filter((code) => code === 'challenge_exhausted')).toHaveLength(195)
    expect(replies.every(({ status, headers }) => status === 401 || headers.has('retry-after'))).toBe(true)

    const late = await client.verify(right)
    expect(late).toMatchObject({ status: 429, body: { code: 'challenge_exhausted' } })
    expect((await client.get('/vault')).status).toBe(401)

    const control = await passwordOnly('dora')
    await control.challenge('dual')
    const code = await textTo('+12025550133')
    expect((await control.verify(code)).body).toMatchObject({ status: 'verified' })
  })

  it('locks the account at ten wrong codes in a day, says until when, and unlocks it then (R23, R27)', async () => {
    const client = await passwordOnly('bob')
    clock.ahead(60)
    await client.challenge('sms')
    const right = await textTo('+12025550122')
    for (let guess = 0; guess < 5; guess++) {
      const { body } = await client.verify(right === '111111' ? '222222' : '111111')
      expect(body.code).toBe('invalid_code')
    }
    const locked = await client.challenge('sms')
    expect(locked).toMatchObject({ status: 429, body: { code: 'locked' } })
    const wait = Number(locked.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(29 * 60)
    expect(wait).toBeLessThanOrEqual(30 * 60)
    // Another session of the same account is locked, too.
    expect((await (await passwordOnly('bob')).challenge('sms')).status).toBe(429)

    clock.ahead(60 + 30 * 60 + 5)
    const later = await passwordOnly('bob')
    expect((await later.challenge('sms')).status).toBe(200)
    const verified = await later.verify(await textTo('+12025550122'))
    expect(verified.body).toMatchObject({ status: 'verified' })
  })

  it('fails closed while the service is down, consumes no attempt, and continues when it is back (R77)', async () => {
    const client = await passwordOnly('walt')
    await client.challenge('call')
    const code = await textTo('+12025550155')
    const { port } = new URL(service.url)
    await service.stop('SIGKILL')
    for (let attempt = 0; attempt < 8; attempt++) {
      const down = await client.verify(code)
      expect(down).toMatchObject({ status: 503, body: { code: 'service_unavailable' } })
    }
    // The user is withheld, whatever the service says.
    expect((await client.get('/vault')).status).toBe(401)
    service = await startService({ ...serviceEnv, SERVICE_PORT: port })
    // The circuit breaker has paused a service that failed five times in a row, and calls it again after a second.
    clock.ahead(60 + 30 * 60 + 5 + 15)
    expect((await client.verify(code)).body).toMatchObject({ status: 'verified' })
  })

  it.skipIf(!hasBrowser)(
    'says on its pages that a code did not count while the service is down, and goes on when it is back',
    async () => {
      const browser = await openBrowser()
      onTestFinished(() => browser.close())
      const { page } = await newUser(browser, LOOKS['phone-light'])
      await passwordStep(page, app.url, 'mallory')
      await page.getByRole('button', { name: /Text a code/ }).click()
      await page.waitForURL(/\/mfa\/verify/)
      const code = await textTo('+12025550144')
      const { page: signedIn } = await newUser(browser, LOOKS['phone-dark'])
      await passwordStep(signedIn, app.url, 'nina')
      const { port } = new URL(service.url)
      await service.stop('SIGKILL')

      await typeCode(page, code)
      const main = page.getByRole('main')
      expect(await main.textContent()).toContain('We can’t check codes right now')
      expect(await main.textContent()).toContain('It’s not your fault, and it didn’t count as an attempt.')
      await snap(page, 'outage-code')
      const { page: other } = await newUser(browser)
      await passwordStep(other, app.url, 'bob')
      expect(await other.getByRole('main').textContent()).toContain('Not available right now')
      await snap(other, 'outage-password')
      await signedIn.goto(`${app.url}/mfa`)
      await signedIn.getByRole('heading', { name: 'This page isn’t available right now' }).waitFor()
      await snap(signedIn, 'outage-signed-in')
      for (const one of [other, signedIn]) {
        expect(await one.getByRole('main').textContent()).not.toMatch(/\bcodes?\b|attempt/)
        await one.getByRole('link', { name: 'Try again' }).waitFor()
      }

      service = await startService({ ...serviceEnv, SERVICE_PORT: port })
      clock.ahead(60 + 30 * 60 + 5 + 30)
      await page.getByRole('link', { name: 'Try again' }).click()
      await page.waitForURL(/\/mfa\/verify/)
      await typeCode(page, code)
      expect(new URL(page.url()).pathname).toBe('/vault')
    },
  )
})
