import { describe, expect, it } from 'vitest'
import { browserAgent, host } from '../kit/host.js'

const signedIn = async (bed: ReturnType<typeof host>, name: string) => {
  const agent = browserAgent(bed.app)
  await agent.post('/login').type('form').send({ name })
  return agent
}

/** The buttons and links of the chooser, in their order. */
const order = (page: string) =>
  [...page.matchAll(/(?:verify\?factor=|name="factor" value=")([a-z-]+)"/g)].map(([, id]) => id)

describe('the pages as a host has them', () => {
  it('offer first what was last used in this browser', async () => {
    const bed = host()
    bed.standIn.setApp('alice@example.com', '424242')
    const agent = await signedIn(bed, 'alice')
    expect(order((await agent.get('/mfa')).text)[0]).toBe('app')
    await agent.post('/mfa/challenge').type('form').send({ factor: 'email' })
    const done = await agent
      .post('/mfa/verify')
      .type('form')
      .send({ code: bed.standIn.newestCode() })
      .expect(303)
    const [cookie] = (done.get('Set-Cookie') ?? []).filter((one) => one.startsWith('mfa_last='))
    expect(cookie).toMatch(/^mfa_last=email; .*Path=\/mfa; .*HttpOnly; SameSite=Lax/)
    expect(cookie).not.toMatch(/Domain/i)

    await agent.post('/logout')
    await agent.post('/login').type('form').send({ name: 'alice' })
    expect(order((await agent.get('/mfa')).text)[0]).toBe('email')
  })

  it('offer first what the host says the person prefers, and nothing that does not exist', async () => {
    const bed = host({ options: { preferred: () => 'sms' } })
    expect(order((await (await signedIn(bed, 'alice')).get('/mfa')).text)[0]).toBe('sms')
    const strange = await signedIn(host({ options: { preferred: () => 'pigeon' } }), 'alice')
    expect(order((await strange.get('/mfa')).text)[0]).toBe('app')
  })

  it('ignore a cookie that names nothing of this person', async () => {
    const agent = await signedIn(host(), 'bob')
    const page = await agent.get('/mfa').set('Cookie', 'mfa_last="><script>')
    expect(page.text).not.toContain('<script>"')
  })

  it('link the host’s style sheet after ours and show its help', async () => {
    const bed = host({ options: { stylesheet: '/brand.css', help: 'Call us at 555 <0100>.' } })
    const agent = await signedIn(bed, 'bob')
    await agent.post('/mfa/challenge').type('form').send({ factor: 'sms' })
    const { text } = await agent.get('/mfa/verify').expect(200)
    expect(text.indexOf('/brand.css')).toBeGreaterThan(text.indexOf('mfa.css'))
    expect(text).toContain('Call us at 555 &lt;0100&gt;.')
  })

  it('can be replaced, one by one, by what the host draws from the same data', async () => {
    const bed = host({
      options: {
        render: (view, frame, standard) =>
          view.page === 'choose' ? `mine: ${view.factors.map(({ to }) => to).join()}` : standard(view, frame),
      },
    })
    const agent = await signedIn(bed, 'bob')
    expect((await agent.get('/mfa')).text).toBe('mine: ••• 02')
    await agent.post('/mfa/challenge').type('form').send({ factor: 'sms' })
    expect((await agent.get('/mfa/verify')).text).toContain('<!doctype html>')
  })

  it('speak the language that the browser or the host asks for', async () => {
    const german = await signedIn(host(), 'bob')
    expect((await german.get('/mfa').set('Accept-Language', 'de-AT,en;q=0.5')).text).toContain('lang="de"')
    const japanese = await signedIn(host({ options: { locale: () => 'ja' } }), 'bob')
    expect((await japanese.get('/mfa').set('Accept-Language', 'de')).text).toContain('lang="ja"')
  })
})
