import { describe, expect, it } from 'vitest'
import { MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent, type Host, host } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

const KEY = 'JBSW Y3DP EHPK 3PXP'

/** A browser that has passed the first factor, and forms that it posts. */
async function browserOf({ app }: Host, name = 'bob') {
  const browser = browserAgent(app)
  await login(browser, name).type('form').expect(200)
  const post = (path: string, fields: object = {}) => browser.post(`/mfa${path}`).type('form').send(fields)
  return {
    browser,
    post,
    /** Posts a form that is answered by a redirect, and opens the page behind it. */
    async follow(path: string, fields: object = {}) {
      const { headers } = await post(path, fields).expect(303)
      const address = headers.location ?? ''
      return { address, page: await browser.get(address) }
    },
  }
}

/** The text of a page without its tags. */
const textOf = (page: { text: string }) =>
  /<main[^>]*>([\s\S]*)<\/main>/
    .exec(page.text)?.[1]
    ?.replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ') ?? ''

describe('a page that is loaded again', () => {
  it('shows the error after a wrong code again, and consumes no attempt', async () => {
    const made = host()
    const { browser, post, follow } = await browserOf(made)
    await post('/challenge', { factor: 'sms' }).expect(303)
    const { address, page } = await follow('/verify', { code: '999999', factor: 'sms' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('<title>Error: ')
    expect(textOf(page)).toContain('Wrong code Check the code and try again. You have 4 attempts left.')
    for (let again = 0; again < 3; again++) {
      expect(textOf(await browser.get(address))).toContain('You have 4 attempts left.')
    }
    expect(made.standIn.count('verify')).toBe(1)
    // Another way to the page has nothing to report.
    expect(textOf(await browser.get('/mfa/verify'))).not.toContain('Wrong code')
    const next = await follow('/verify', { code: '999998', factor: 'sms' })
    expect(textOf(next.page)).toContain('You have 3 attempts left.')
  })

  it('shows the error after a refused message again, and sends none', async () => {
    const made = host()
    const { browser, post, follow } = await browserOf(made)
    await post('/challenge', { factor: 'sms' }).expect(303)
    const { address, page } = await follow('/challenge', { factor: 'sms' })
    expect(textOf(page)).toContain('You just requested a code')
    expect(textOf(await browser.get(address))).toContain('You just requested a code')
    expect(made.standIn.count('send')).toBe(1)
    const unknown = await follow('/challenge', { factor: 'pigeon' })
    expect(textOf(unknown.page)).toContain('This option is not available')
  })

  it('shows the same QR code until the app is confirmed, and creates no other key', async () => {
    const made = host()
    const { browser, follow } = await browserOf(made, 'nina')
    const { address, page } = await follow('/enroll-app')
    expect(address).toBe('/mfa/enroll-app/confirm')
    for (const shown of [page, await browser.get(address), await browser.get(address)]) {
      expect(shown.text).toContain('data:image/png;base64,iVBORw0KGgo=')
      expect(textOf(shown)).toContain(KEY)
    }
    expect(made.standIn.count('enrollApp')).toBe(1)

    const wrong = await follow('/enroll-app/confirm', { code: '999999' })
    expect(textOf(wrong.page)).toContain('You have 4 attempts left.')
    expect(textOf(await browser.get(wrong.address))).toContain(KEY)
    expect(made.standIn.count('verify')).toBe(1)

    const done = await follow('/enroll-app/confirm', { code: '123456' })
    expect(done.address).toBe('/mfa/enroll-app/done')
    expect(textOf(done.page)).toContain('Your app is ready')
    expect(textOf(await browser.get(done.address))).toContain('Your app is ready')
    expect(made.standIn.count('verify')).toBe(2)
    // The app is confirmed, so its key is shown no more.
    await browser.get('/mfa/enroll-app/confirm').expect(303).expect('Location', '/mfa/enroll-app')
  })

  it('links the requested page again after an app was set up', async () => {
    const made = host({ options: { policy: () => 'require' } })
    const { browser, follow } = await browserOf(made, 'nina')
    await browser.get('/secret?tab=1')
    await follow('/enroll-app')
    const { page } = await follow('/enroll-app/confirm', { code: '123456' })
    expect(page.text).toContain('href="/secret?tab=1"')
  })
})

describe('the key of an authenticator app (R53)', () => {
  it('is in the session only in a form that the session alone cannot read', async () => {
    const made = host()
    const { follow } = await browserOf(made, 'nina')
    const { page } = await follow('/enroll-app')
    expect(textOf(page)).toContain(KEY)
    const sessions = JSON.stringify(Reflect.get(made.store, 'sessions'))
    expect(sessions).toContain('sealed')
    for (const hidden of ['JBSWY3DPEHPK3PXP', 'iVBORw0KGgo', Buffer.from('JBSWY3DP').toString('base64url')]) {
      expect(sessions).not.toContain(hidden)
    }
  })

  it('is encrypted with a key that only this browser has, for its own routes and for 15 minutes', async () => {
    const { browser, post } = await browserOf(host(), 'nina')
    const started = await post('/enroll-app').expect(303)
    const [cookie = ''] = (started.get('Set-Cookie') ?? []).filter((one) => one.startsWith('mfa_enrollment='))
    expect(cookie).toMatch(/^mfa_enrollment=[\w-]{43}; Max-Age=900; Path=\/mfa; .*HttpOnly; SameSite=Lax/)

    browser.jar.setCookie(`mfa_enrollment=${'A'.repeat(43)}; Path=/mfa`, '127.0.0.1', '/mfa')
    const other = await browser.get('/mfa/enroll-app/confirm').expect(200)
    expect(other.text).not.toContain('JBSW')
    expect(textOf(other)).toContain('start over')
    expect(other.text).toMatch(/action="\/mfa\/enroll-app"><button class="mfa-secondary">Start over/)
  })
})

describe('too many wrong codes', () => {
  const wrongCodes = async (
    post: Awaited<ReturnType<typeof browserOf>>['post'],
    path: string,
    count: number,
  ) => {
    for (let nth = 0; nth < count; nth++) await post(path, { code: `99999${nth}` }).expect(303)
  }

  it('for one message lead to a new code or another factor, on the page at once and after a reload', async () => {
    const { browser, post, follow } = await browserOf(host())
    await post('/challenge', { factor: 'sms' }).expect(303)
    await wrongCodes(post, '/verify', 4)
    const { address, page } = await follow('/verify', { code: '999999' })
    for (const shown of [page, await browser.get(address), await browser.get('/mfa/verify')]) {
      const text = textOf(shown)
      expect(text).toContain('Too many wrong codes')
      expect(text).not.toMatch(/0 attempts|Wrong code |try again/)
      expect(text).toContain('Text a code to ••• 02')
      expect(text).toContain('Do you have a backup code?')
      expect(shown.text).not.toContain('name="code"')
    }
    // An attempt with the correct code changes nothing about it.
    const more = await follow('/verify', { code: '000000' })
    expect(textOf(more.page)).toContain('Too many wrong codes')
  })

  it('for an authenticator app or backup codes let the user start again or lock the account', async () => {
    const { post, follow } = await browserOf(host(), 'alice')
    for (const factor of ['app', 'backup']) {
      for (let nth = 0; nth < 4; nth++) await post('/verify', { code: `99999${nth}`, factor }).expect(303)
      const { page } = await follow('/verify', { code: '999999', factor })
      if (factor === 'backup') return expect(textOf(page)).toContain('Temporarily locked')
      expect(textOf(page)).toContain('Too many wrong codes')
      const again = await follow('/challenge', { factor })
      expect(again.page.text).toContain('name="code"')
    }
  })

  it('for the account lead to the time when the lock ends, and to no form for a code, on every page', async () => {
    const made = host()
    const { browser, post, follow } = await browserOf(made)
    await post('/challenge', { factor: 'sms' }).expect(303)
    await wrongCodes(post, '/verify', 5)
    await post('/verify', { code: '1', factor: 'backup' }).expect(303)
    for (let nth = 0; nth < 3; nth++) await post('/verify', { code: '1', factor: 'backup' }).expect(303)
    const { address, page } = await follow('/verify', { code: '1', factor: 'backup' })
    const addresses = [address, '/mfa', '/mfa?choose', '/mfa/verify', '/mfa/verify?factor=sms']
    for (const shown of [page, ...(await Promise.all(addresses.map((one) => browser.get(one))))]) {
      expect(shown.status).toBe(429)
      expect(Number(shown.headers['retry-after'])).toBeGreaterThan(1700)
      expect(textOf(shown)).toMatch(/Temporarily locked.*You can try again in 30 minutes\./)
      expect(shown.text).not.toMatch(/mfa\/challenge|name="code"/)
    }
    const sent = made.standIn.count('send')
    const refused = await follow('/challenge', { factor: 'sms' })
    expect(textOf(refused.page)).toContain('Temporarily locked')
    expect(made.standIn.count('send')).toBe(sent)
  })

  it('for a new app lead to a new key, which works', async () => {
    const { browser, post, follow } = await browserOf(host(), 'nina')
    await follow('/enroll-app')
    await wrongCodes(post, '/enroll-app/confirm', 4)
    const { address, page } = await follow('/enroll-app/confirm', { code: '999999' })
    for (const shown of [page, await browser.get(address)]) {
      expect(textOf(shown)).toContain('Too many wrong codes')
      expect(textOf(shown)).toContain('start over')
      expect(textOf(shown)).not.toContain('contact')
      expect(shown.text).toMatch(/action="\/mfa\/enroll-app"><button class="mfa-primary">Start over/)
    }
    const again = await follow('/enroll-app')
    expect(textOf(again.page)).toContain(KEY)
    const done = await follow('/enroll-app/confirm', { code: '123456' })
    expect(textOf(done.page)).toContain('Your app is ready')
  })
})

describe('the enrollment of an app', () => {
  it('leads to a new start when the user took too long', async () => {
    const clock = stopClock()
    const { browser, follow } = await browserOf(host(), 'nina')
    const { address } = await follow('/enroll-app')
    clock.move(15 * MINUTE)
    const late = await browser.get(address).expect(200)
    expect(textOf(late)).toContain('Your time is up')
    expect(late.text).not.toContain('JBSW')
  })
})

describe('a sign-in in two tabs', () => {
  it('says in the second tab that the user is signed in, sends nothing there and counts no attempt', async () => {
    const made = host()
    const { browser, post } = await browserOf(made)
    await post('/challenge', { factor: 'sms' }).expect(303)
    const form = { code: made.standIn.newestCode(), factor: 'sms' }
    await post('/verify', form).expect(303).expect('Location', '/')
    const calls = made.standIn.calls.length
    for (const [path, fields] of [
      ['/verify', form],
      ['/verify', { code: '000000', factor: 'sms' }],
      ['/challenge', { factor: 'sms' }],
    ] as const) {
      expect((await post(path, fields).expect(200)).text).toContain('<h1>You are signed in</h1>')
    }
    for (const path of ['/mfa/verify', '/mfa/verify?factor=sms', '/mfa/verify?factor=backup']) {
      const { text } = await browser.get(path).expect(200)
      expect(text).toContain('<h1>You are signed in</h1>')
      expect(text).toContain('href="/"')
      expect(text).not.toContain('name="code"')
    }
    expect(made.standIn.calls).toHaveLength(calls)
  })
})
