import { describe, expect, it } from 'vitest'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { browserAgent, host, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

const signedIn = async (bed: ReturnType<typeof host>, name: string) => {
  const agent = browserAgent(bed.app)
  await login(agent, name).type('form')
  return agent
}

/** The buttons and links of the chooser, in their order. */
const order = (page: string) =>
  [...page.matchAll(/(?:verify\?factor=|name="factor" value=")([a-z0-9-]+)"/g)].map(([, id]) => id)

describe('the pages of a host', () => {
  it('offer first the factor that was last used in this browser', async () => {
    const bed = host()
    bed.standIn.setApp('alice@example.com', '424242')
    const agent = await signedIn(bed, 'alice')
    expect(order((await agent.get('/mfa')).text)[0]).toBe('app')
    await challenge(agent, 'email').type('form')
    const done = await verify(agent, bed.standIn.newestCode()).type('form').expect(303)
    const [cookie] = (done.get('Set-Cookie') ?? []).filter((one) => one.startsWith('mfa_last='))
    expect(cookie).toMatch(/^mfa_last=email; .*Path=\/mfa; .*HttpOnly; SameSite=Lax/)
    expect(cookie).not.toMatch(/Domain/i)

    await agent.post('/logout')
    await login(agent, 'alice').type('form')
    expect(order((await agent.get('/mfa')).text)[0]).toBe('email')
  })

  it('begin with the app if this browser used it last, with the others beside it, and send nothing (R14)', async () => {
    const bed = host()
    bed.standIn.setApp('alice@example.com', '424242')
    const agent = await signedIn(bed, 'alice')
    await verify(agent, '424242', { factor: 'app' }).type('form').expect(303)
    await agent.post('/logout')
    await login(agent, 'alice').type('form')
    await agent.get('/mfa').expect(303).expect('Location', '/mfa/verify?factor=app')
    const { text } = await agent.get('/mfa/verify?factor=app').expect(200)
    expect(text).toContain('Try another way')
    expect(text).toContain('href="/mfa?choose"')
    expect(order((await agent.get('/mfa?choose').expect(200)).text)).toContain('email')
  })

  it('send no code without a press, not even for a sole factor that was used last (R14)', async () => {
    const bed = host()
    const agent = await signedIn(bed, 'bob')
    for (const sent of [0, 1]) {
      const { text } = await agent.get('/mfa').expect(200)
      expect(order(text)[0]).toBe('sms')
      expect(bed.standIn.count('send')).toBe(sent)
      await challenge(agent, 'sms').type('form').expect(303)
      await verify(agent, bed.standIn.newestCode()).type('form').expect(303)
      await agent.post('/logout')
      await login(agent, 'bob').type('form')
    }
  })

  it('name the account beside the app, where the host knows a name', async () => {
    const accountName = ({ email }: TestUser) => email
    const named = await signedIn(host({ options: { pages: { accountName } } }), 'alice')
    expect((await named.get('/mfa')).text).toContain('<bdi>alice@example.com</bdi></span></header>')
    const unnamed = await signedIn(host({ options: { pages: { accountName: () => undefined } } }), 'alice')
    expect((await unnamed.get('/mfa')).text).not.toContain('mfa-account')
  })

  it('offer first the factor that the host prefers, if it exists', async () => {
    const bed = host({ options: { pages: { preferred: () => 'sms' } } })
    expect(order((await (await signedIn(bed, 'alice')).get('/mfa')).text)[0]).toBe('sms')
    const unknown = await signedIn(host({ options: { pages: { preferred: () => 'pigeon' } } }), 'alice')
    expect(order((await unknown.get('/mfa')).text)[0]).toBe('app')
  })

  it('show several factors of one method by their labels, and send to the chosen one', async () => {
    const bed = host({
      options: {
        factors: () => [
          { method: 'sms', phone: '+447700900102', label: 'My phone' },
          { method: 'sms', phone: '+447700900202', label: 'Work <phone>' },
        ],
      },
    })
    const agent = await signedIn(bed, 'bob')
    const page = await agent.get('/mfa')
    expect(order(page.text)).toEqual(['sms', 'sms-2', 'backup'])
    const names = [...page.text.matchAll(/<bdi>([^<]*hone[^<]*)<\/bdi>/g)].map(([, name]) => name)
    expect(names).toEqual(['My phone', 'Work &lt;phone&gt;'])
    const state = await agent.get('/mfa').set('Accept', 'application/json').expect(200)
    expect(state.body.factors).toEqual([
      { id: 'sms', method: 'sms', to: '••• 02', strength: 'medium', label: 'My phone' },
      { id: 'sms-2', method: 'sms', to: '••• 02', strength: 'medium', label: 'Work <phone>' },
    ])

    await challenge(agent, 'sms-2').type('form').expect(303)
    expect(bed.standIn.delivered).toMatchObject([{ to: '+447700900202' }])
    // The other factor is still offered by its label, and the one used last comes first the next time.
    expect((await agent.get('/mfa/verify')).text).toContain('<bdi>My phone</bdi>')
    await verify(agent, bed.standIn.newestCode()).type('form').expect(303)
    await agent.post('/logout')
    await login(agent, 'bob').type('form')
    expect(order((await agent.get('/mfa')).text)).toEqual(['sms-2', 'sms', 'backup'])
  })

  it('ignore a cookie that names no factor of the user', async () => {
    const agent = await signedIn(host(), 'bob')
    const page = await agent.get('/mfa').set('Cookie', 'mfa_last="><script>')
    expect(page.text).not.toContain('<script>"')
  })

  it('link the host’s style sheet after their own, and show its help', async () => {
    const bed = host({ options: { pages: { stylesheet: '/brand.css', help: 'Call us at 555 <0100>.' } } })
    const agent = await signedIn(bed, 'bob')
    await challenge(agent, 'sms').type('form')
    const { text } = await agent.get('/mfa/verify').expect(200)
    expect(text.indexOf('/brand.css')).toBeGreaterThan(text.indexOf('mfa.css'))
    expect(text).toContain('Call us at 555 &lt;0100&gt;.')
  })

  it('load styles, fonts and images only from files of the site, and nothing inline', async () => {
    const agent = await signedIn(host({ options: { pages: { stylesheet: '/brand.css' } } }), 'bob')
    const { headers } = await agent.get('/mfa').expect(200)
    const policy = String(headers['content-security-policy']).split('; ')
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "style-src 'self'",
        "font-src 'self'",
        "img-src 'self' data:",
      ]),
    )
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*/)
  })

  it('can be rendered one by one by the host, from the same data', async () => {
    const bed = host({
      options: {
        pages: {
          render: (view, frame, standard) =>
            view.page === 'choose'
              ? `mine: ${view.factors.map(({ to }) => to).join()}`
              : standard(view, frame),
        },
      },
    })
    const agent = await signedIn(bed, 'bob')
    expect((await agent.get('/mfa')).text).toBe('mine: ••• 02')
    await challenge(agent, 'sms').type('form')
    expect((await agent.get('/mfa/verify')).text).toContain('<!doctype html>')
  })

  it('can all be rendered by the host, those about errors included', async () => {
    const bed = host({
      options: {
        trustedDevices: { store: 'memory' },
        pages: {
          render: (view, frame) => {
            const message = view.page === 'stop' ? view.message : frame.message
            return `mine: ${view.page} ${message?.code ?? ''}`
          },
        },
      },
    })
    const agent = await signedIn(bed, 'bob')
    const renders = async (asked: ReturnType<typeof agent.get>, text: string) =>
      expect((await asked.redirects(1)).text.trim()).toBe(`mine: ${text}`)
    const post = (path: string, body: object) => agent.post(`/mfa${path}`).type('form').send(body)
    await renders(agent.get('/mfa'), 'choose')
    await renders(challenge(agent, 'pigeon').type('form'), 'choose unknown_factor')
    await challenge(agent, 'sms').type('form').expect(303)
    await renders(agent.get('/mfa/verify'), 'code')
    await renders(verify(agent, '000 00x').type('form'), 'code invalid_code')
    await renders(verify(agent, 'x'.repeat(5_000)).type('form'), 'code body_too_large')
    await verify(agent, bed.standIn.newestCode()).type('form').expect(303)
    await renders(agent.get('/mfa'), 'overview')
    await renders(agent.get('/mfa/devices'), 'devices')
    await renders(agent.get('/mfa/backup'), 'backup')
    await post('/backup', {}).expect(303)
    await renders(agent.get('/mfa/backup?sent'), 'backup-sent')
    await approveChange(agent, '/mfa/enroll-app', byStandIn(bed, agent))
    await renders(agent.get('/mfa/enroll-app'), 'enroll-start')
    bed.standIn.setTrouble(bed.standIn.down)
    await renders(post('/enroll-app', {}), 'stop service_unavailable')
    bed.standIn.setTrouble(undefined)
    await renders(post('/enroll-app', {}), 'enroll')
    await renders(post('/enroll-app/confirm', { code: '000000' }), 'enroll invalid_code')
    await renders(post('/enroll-app/confirm', { code: '123456' }), 'enrolled')
  })

  it('are in the language that the browser or the host asks for', async () => {
    const german = await signedIn(host(), 'bob')
    expect((await german.get('/mfa').set('Accept-Language', 'de-AT,en;q=0.5')).text).toContain('lang="de"')
    const japanese = await signedIn(host({ options: { languages: { locale: () => 'ja' } } }), 'bob')
    expect((await japanese.get('/mfa').set('Accept-Language', 'de')).text).toContain('lang="ja"')
  })
})
