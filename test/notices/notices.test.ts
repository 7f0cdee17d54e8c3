import { describe, expect, it } from 'vitest'
import { createMfa, type FactorInput } from '../../src/index.js'
import { approveChange, byStandIn } from '../kit/approved-change.js'
import { EMPTY_RECORD, host, jsonAgent, signIn } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'
import { type Agent, stateAfterLogin } from '../trust/kit.js'
import { followNotMeLink, type NoticingHost, noticingHost, passBothFactors } from './kit.js'

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const wrongFor = (code: string) => (code === '000000' ? '111111' : '000000')

describe('an account notice', () => {
  it('reports a used backup code, with everything an email needs (R63)', async () => {
    const made = noticingHost({
      first: (app) => app.set('trust proxy', 1),
      options: { location: () => 'Lyon, France' },
    })
    const agent = await passBothFactors(made, 'bob')
    await agent.post('/mfa/backup').send({}).expect(200)
    const other = jsonAgent(made.app).set('User-Agent', FIREFOX).set('X-Forwarded-For', '203.0.113.7')
    await login(other, 'bob').expect(200)
    await verify(other, 'AAAABBBBCCCCDDDD', { factor: 'backup' }).expect(200)

    const { user, notice } = made.notices.at(-1) ?? {}
    expect(user).toMatchObject({ id: 'u-bob', email: 'bob@example.com' })
    expect(notice).toMatchObject({
      type: 'backup_code_used',
      browser: 'Firefox on Windows',
      address: '203.0.113.7',
      location: 'Lyon, France',
      locale: 'en',
      subject: 'Testbed: backup code used',
    })
    expect(Math.abs((notice?.at ?? 0) - Date.now())).toBeLessThan(10_000)
    for (const part of [
      'Firefox on Windows',
      '203.0.113.7',
      'Lyon, France',
      'UTC',
      'Testbed',
      notice?.notMeUrl,
    ]) {
      expect(notice?.text).toContain(part)
    }
    expect(JSON.stringify(notice)).not.toContain('AAAABBBB')
  })

  it('reports new backup codes (R61)', async () => {
    const made = noticingHost()
    await (await passBothFactors(made, 'bob')).post('/mfa/backup').send({}).expect(200)
    const notice = made.newest('backup_codes_sent')
    expect(notice.text).toContain('Your earlier codes no longer work.')
    expect(notice).toMatchObject({ method: 'sms', to: '••• 02' })
  })

  it('reports a new factor, with its contact masked', async () => {
    const made = noticingHost()
    const agent = await passBothFactors(made, 'bob')
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    const notice = made.newest('factor_added')
    expect(notice).toMatchObject({ method: 'app', to: 'b…b@example.com' })
    expect(notice.text).toContain('Authenticator app (')
    expect(notice.text).not.toContain('bob@example.com')
  })

  it('reports a new trusted device', async () => {
    const made = noticingHost()
    await passBothFactors(made, 'bob', { trust: true })
    expect(made.newest('device_trusted').text).toContain('without the second step')
  })

  it('reports the fifth wrong code after a correct password, over all sessions, once (R34)', async () => {
    const made = noticingHost()
    const guess = async (times: number) => {
      const agent = await signIn(made.app, 'alice')
      await challenge(agent, 'app').expect(200)
      made.standIn.setApp('alice@example.com', '555555')
      for (let nth = 0; nth < times; nth++) {
        await verify(agent, wrongFor('555555'), { factor: 'app' }).expect(401)
      }
    }
    await guess(4)
    expect(made.notices).toEqual([])
    await guess(1)
    expect(made.newest('repeated_failures').text).toContain('correct password')
    await guess(3)
    expect(made.notices).toHaveLength(1)
  })

  it('is not sent for a sign-in or for wrong codes in a verified session', async () => {
    const made = noticingHost()
    const agent = await passBothFactors(made, 'alice')
    for (let nth = 0; nth < 5; nth++) {
      await verify(agent, '000000', { factor: 'app' }).expect(401)
    }
    expect(made.notices).toEqual([])
  })

  it('reports factors that the host itself changes, with the user as before the change (R47, R68)', async () => {
    const old: FactorInput = { method: 'sms', phone: '+447700900102' }
    const made = noticingHost({
      routes: (app, mfa) => {
        app.post('/phone', async (req, res) => {
          const user = made.users.bob
          if (!user) throw new Error('bob')
          await createMfa(mfa).account.factorRemoved(req, user, old)
          await createMfa(mfa).account.factorAdded(req, user, { method: 'sms', phone: '+447700900199' })
          res.json({})
        })
      },
    })
    const agent = await passBothFactors(made, 'bob', { trust: true })
    await agent.post('/phone').expect(200)
    expect(made.newest('factor_removed')).toMatchObject({ method: 'sms', to: '••• 02' })
    expect(made.newest('factor_added')).toMatchObject({ method: 'sms', to: '••• 99' })
    // The trust in the device has ended, although the factors look the same.
    expect((await stateAfterLogin(agent, 'bob')).mfa.status).toBe('pending')
  })

  it('is in the language of the request, or in the language that the host chooses', async () => {
    const made = noticingHost()
    const agent = jsonAgent(made.app).set('Accept-Language', 'de-CH,de;q=0.9')
    await passBothFactors(made, 'bob', { trust: true }, agent)
    const notice = made.newest('device_trusted')
    expect(notice).toMatchObject({ locale: 'de', subject: 'Testbed: neuer vertrauenswürdiger Browser' })
    expect(notice.inLanguage('fr-CA')).toMatchObject({
      locale: 'fr',
      subject: 'Testbed\u00a0: nouveau navigateur de confiance',
    })
    expect(notice.inLanguage('fr').text).toContain(notice.notMeUrl)
  })

  it('takes nothing from the request into its link, and has no link without a configured address (R16, R45)', async () => {
    const made = noticingHost({ first: (app) => app.set('trust proxy', true) })
    const forged = jsonAgent(made.app).set('Host', 'evil.example').set('X-Forwarded-Host', 'evil.example')
    await passBothFactors(made, 'bob', { trust: true }, forged)
    const { notMeUrl, ...notice } = made.newest('device_trusted')
    expect(new URL(notMeUrl ?? '')).toMatchObject({ origin: 'https://shop.example', pathname: '/mfa/not-me' })
    expect(JSON.stringify(notice)).not.toContain('evil')

    const plain = noticingHost({ options: { urls: {} } })
    await passBothFactors(plain, 'bob', { trust: true })
    const bare = plain.newest('device_trusted')
    expect(bare.notMeUrl).toBeUndefined()
    expect(bare.text).not.toContain('http')
    expect(bare.text).toContain('change your Testbed password now and contact Testbed')
    await jsonAgent(plain.app).get('/mfa/not-me?token=x').expect(404, {})
  })

  it('lets no value add a line to its text', async () => {
    const made = noticingHost({
      options: { location: () => 'Lyon\n\nAll is well: https://evil.example\u2028' },
    })
    await passBothFactors(made, 'bob', { trust: true })
    expect(made.newest('device_trusted').text).toMatch(
      /^Location: Lyon All is well: https:\/\/evil\.example$/m,
    )
  })

  it('does not affect the request of the user if onNotice fails', async () => {
    const errors: string[] = []
    const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
    for (const onNotice of [
      () => {
        throw new Error('no mail server')
      },
      async () => {
        throw new Error('no mail server')
      },
    ]) {
      await passBothFactors(noticingHost({ options: { notices: { onNotice }, logger } }), 'bob', {
        trust: true,
      })
    }
    await expect.poll(() => errors.length).toBe(2)
    expect(errors[0]).toContain('device_trusted')
  })

  it('is also sent if the location function of the host throws', async () => {
    const location = (): string => {
      throw new Error('no such address in the atlas')
    }
    const made = noticingHost({ options: { location, logger: { warn: () => {}, error: () => {} } } })
    await passBothFactors(made, 'bob', { trust: true })
    const notice = made.newest('device_trusted')
    expect(notice.location).toBeUndefined()
    await followNotMeLink(made, notice).expect(200)
    expect(made.compromises).toMatchObject([{ userId: 'u-bob' }])
  })

  it('is optional for the host', async () => {
    const { app, standIn } = host()
    const agent = await signIn(app, 'bob')
    await challenge(agent, 'sms')
    await verify(agent, standIn.newestCode()).expect(200)
  })
})

describe('an account notice about a request that another request of the session overtakes', () => {
  /** Checks the response when another request of the same session is faster. */
  async function overtaken(made: NoticingHost, agent: Agent, path: string, body: object) {
    const held = made.standIn.hold()
    const late = agent
      .post(path)
      .send(body)
      .then((answer) => answer)
    await held.arrived
    await challenge(agent, 'app').expect(200)
    held.release()
    const answer = await late
    expect([answer.status, answer.body.code]).toEqual([401, 'session_ended'])
  }

  it('reports wrong codes after a correct password (R34)', async () => {
    const made = noticingHost()
    const agent = await signIn(made.app, 'alice')
    for (let nth = 0; nth < 5; nth++) {
      await overtaken(made, agent, '/mfa/verify', { factor: 'app', code: '000000' })
    }
    expect(made.notices.map(({ notice }) => notice.type)).toEqual(['repeated_failures'])
  })

  it('reports a used backup code (R63)', async () => {
    const made = noticingHost()
    await (await passBothFactors(made, 'alice')).post('/mfa/backup').send({}).expect(200)
    const agent = await signIn(made.app, 'alice')
    await overtaken(made, agent, '/mfa/verify', { factor: 'backup', code: 'AAAABBBBCCCCDDDD' })
    expect(made.newest('backup_code_used').notMeUrl).toBeDefined()
  })

  it('reports new backup codes (R61)', async () => {
    const made = noticingHost()
    await overtaken(made, await passBothFactors(made, 'alice'), '/mfa/backup', {})
    expect(made.newest('backup_codes_sent')).toMatchObject({ method: 'email' })
  })

  it('reports an enrolled app, and the host is informed too (R47)', async () => {
    const enrolled: string[] = []
    const made = noticingHost({
      options: { ...EMPTY_RECORD, onFactorsChanged: ({ id }) => void enrolled.push(id) },
    })
    const agent = await passBothFactors(made, 'alice')
    await approveChange(agent, '/mfa/enroll-app', byStandIn(made, agent))
    await agent.post('/mfa/enroll-app').send({}).expect(200)
    await overtaken(made, agent, '/mfa/enroll-app/confirm', { code: '123456' })
    expect(made.newest('factor_added')).toMatchObject({ method: 'app' })
    expect(enrolled).toEqual(['u-ali'])
  })
})
