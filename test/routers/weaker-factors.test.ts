import { describe, expect, it } from 'vitest'
import { type FactorInput, ServiceError } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

/** Every delivered method, as a factor of one user. */
const DELIVERED = {
  email: { method: 'email', email: 'alice@example.com' },
  sms: { method: 'sms', phone: '+447700900101' },
  whatsapp: { method: 'whatsapp', phone: '+447700900101' },
  call: { method: 'call', phone: '+447700900101' },
  dual: { method: 'dual', email: 'alice@example.com', phone: '+447700900101' },
} as const satisfies Record<string, FactorInput>

type Delivered = keyof typeof DELIVERED

const APP = { method: 'app', user: 'alice@example.com' } as const
const METHODS = Object.entries(DELIVERED) as [Delivered, FactorInput][]
const STRENGTH = {
  app: 'strong',
  email: 'weak',
  sms: 'medium',
  whatsapp: 'medium',
  call: 'medium',
  dual: 'weak',
}

const WEAKEST = {
  en: 'Least secure',
  de: 'Am wenigsten sicher',
  es: 'La opción menos segura',
  fr: 'La méthode la moins sûre',
  ja: '最も',
  pt: 'A opção menos segura',
} as const
const LESS_SAFE = {
  en: 'Less secure than an authenticator app',
  de: 'Weniger sicher als eine Authenticator-App',
  es: 'Menos segura que una aplicación de autenticación',
  fr: 'Moins sûr qu’une application d’authentification',
  ja: '認証アプリより安全性が低い方法です',
  pt: 'Menos segura que um app autenticador',
} as const
const LANGUAGES = Object.keys(LESS_SAFE) as (keyof typeof LESS_SAFE)[]

/** A host whose users have these factors. */
function hostWith(factors: readonly FactorInput[], more: Parameters<typeof host>[0] = {}) {
  const now = { factors: [...factors] }
  const made = host({ ...more, options: { ...more.options, factors: () => now.factors } })
  return { ...made, now }
}

/** The hints of a page: the lines below the name of each factor, by its id. */
function hintsOn(html: string): Record<string, string> {
  const items = html.match(/<li>.*?<\/li>/gs) ?? []
  return Object.fromEntries(
    items.map((item) => [
      /name="factor" value="([\w-]+)"|\/verify\?factor=([\w-]+)/.exec(item)?.slice(1).find(Boolean) ?? '',
      [...item.matchAll(/<span class="mfa-hint">(.*?)<\/span>/gs)].map(([, text]) => text).join(' '),
    ]),
  )
}

const strengths = (factors: { method: string; strength: string }[]) =>
  Object.fromEntries(factors.map(({ method, strength }) => [method, strength]))

async function browserOf({ app }: Pick<ReturnType<typeof host>, 'app'>, name = 'alice') {
  const browser = browserAgent(app)
  await login(browser, name).type('form')
  return browser
}

describe('the strength of a factor (R48)', () => {
  const all = [APP, ...Object.values(DELIVERED)]

  it('is in every JSON response that lists factors', async () => {
    const guarded = hostWith(all, { options: { policy: () => 'skip' } })
    const skipped = await signIn(guarded.app, 'alice')
    expect(strengths((await skipped.post('/transfer').expect(401)).body.factors)).toEqual(STRENGTH)
    const made = hostWith(all, { options: { outage: { offer: 'other-factor' } } })
    const agent = await signIn(made.app, 'alice')
    expect(strengths((await agent.get('/mfa')).body.factors)).toEqual(STRENGTH)
    made.standIn.setTrouble(made.standIn.down)
    const { body } = await challenge(agent, 'sms').expect(503)
    const { sms: _failed, ...others } = STRENGTH
    expect(strengths(body.factors)).toEqual(others)
  })

  it('is shown to a signed-in user with each factor, in every language, and not at the sign-in', () =>
    everyCase(LANGUAGES, async (language) => {
      const made = hostWith(all)
      const browser = (await browserOf(made)).set('Accept-Language', language)
      const hinted = new RegExp(`${WEAKEST[language]}|${LESS_SAFE[language]}`)
      expect((await browser.get('/mfa').expect(200)).text).not.toMatch(hinted)
      await challenge(browser, 'sms').type('form').expect(303)
      expect((await browser.get('/mfa/verify').expect(200)).text).not.toMatch(hinted)
      await verify(browser, made.standIn.newestCode()).type('form').expect(303)
      const { text } = await browser.get('/mfa').expect(200)
      expect(text.split(WEAKEST[language])).toHaveLength(3)
      expect(text.split(LESS_SAFE[language])).toHaveLength(4)
    }))
})

describe.each(METHODS)('the method %s (R48)', (method, factor) => {
  it('is not offered and accepts no code once the host has turned it off, not even one that was sent before', async () => {
    const made = hostWith([APP, factor])
    const agent = await signIn(made.app, 'alice')
    const browser = await browserOf(made)
    await challenge(agent, method).expect(200)
    const calls = made.standIn.calls.length

    made.now.factors = [APP]
    const { body } = await agent.get('/mfa').expect(200)
    expect(body).not.toHaveProperty('challenge')
    expect(strengths(body.factors)).toEqual({ app: 'strong' })
    const { text } = await browser.get('/mfa?choose').expect(200)
    expect(text).toContain('<h1>Use your authenticator app</h1>')
    expect(hintsOn(text)).toEqual({})
    for (const name of [method, 'backup']) {
      const refused = await challenge(agent, name).expect(404)
      expect(refused.body.code).toBe('unknown_factor')
      const code = made.standIn.newestCode()
      await verify(agent, code, { factor: name }).expect(404)
    }
    await verify(agent, made.standIn.newestCode()).expect(404)
    expect(made.standIn.calls).toHaveLength(calls)
    await agent.get('/secret').expect(401)
  })

  it('is reported as turned off by the service, and leads to an app', async () => {
    const made = hostWith([APP, factor])
    const off = async () => ({ outcome: 'refused', refusal: { reason: 'method_off' } }) as const
    made.standIn.service.send = off
    const agent = await signIn(made.app, 'alice')
    const { body } = await challenge(agent, method).expect(403)
    expect(body.code).toBe('method_off')
    const browser = await browserOf(made)
    const page = await challenge(browser, method).type('form').redirects(1).expect(200)
    expect(page.text).toContain('This option is not offered here')
    expect(hintsOn(page.text)).toHaveProperty('app')
    made.standIn.setApp('alice@example.com', '123456')
    await verify(browser, '123456', { factor: 'app' }).type('form').expect(303)
    await browser.get('/secret').expect(200)
  })
})

describe('an authenticator app (R48)', () => {
  it.each(METHODS)(
    'can be enrolled by a user who has %s, even when no message can be sent any more',
    async (method, factor) => {
      stopClock()
      const made = hostWith([factor])
      const agent = await signIn(made.app, 'alice')
      await challenge(agent, method).expect(200)
      await verify(agent, made.standIn.newestCode()).expect(200)
      await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
      for (const verb of ['send', 'sendBackupCodes'] as const) {
        made.standIn.service[verb] = async () => {
          throw new ServiceError('ERR_MFA_SERVICE_UNAVAILABLE', 'no carrier')
        }
      }
      const page = await agent.get('/mfa').set('Accept', 'text/html').expect(200)
      expect(page.text).toContain('href="/mfa/enroll-app"')
      await agent.get('/mfa/enroll-app').set('Accept', 'text/html').expect(200)
      await agent.post('/mfa/enroll-app').send({}).expect(200)
      await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    },
  )

  it('can be enrolled by a user who has no factor yet, and can be required by the app', async () => {
    const free = host()
    const agent = await signIn(free.app, 'nina')
    const page = await agent.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).toContain('href="/mfa/enroll-app"')
    await agent.post('/mfa/enroll-app').send({}).expect(200)

    const held = host({ options: { policy: () => 'require' } })
    const browser = await browserOf(held, 'nina')
    await browser.get('/mfa').expect(303).expect('Location', '/mfa/enroll-app')
    await browser.get('/mfa/enroll-app').expect(200)
    const program = jsonAgent(held.app)
    await login(program, 'nina')
    expect((await program.get('/mfa').expect(200)).body).toMatchObject({ enroll: '/mfa/enroll-app' })
    await program.post('/mfa/enroll-app').send({}).expect(200)
  })

  it('is offered first beside a delivered code', () =>
    everyCase(METHODS, async ([method, factor]) => {
      const made = hostWith([APP, factor])
      const browser = await browserOf(made)
      expect(Object.keys(hintsOn((await browser.get('/mfa').expect(200)).text))[0]).toBe('app')
      await challenge(browser, method).type('form').expect(303)
      expect(Object.keys(hintsOn((await browser.get('/mfa/verify').expect(200)).text))[0]).toBe('app')
    }))
})
