import { describe, expect, it } from 'vitest'
import { formatUser } from '../../src/protocol/contact.js'
import type { RecordedFactors } from '../../src/protocol/factor.js'
import type { RequestOf } from '../../src/protocol/service.js'
import { browserAgent, EMPTY_RECORD, host, jsonAgent } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'

/** An app whose users have neither an email address nor a phone number, and that remembers their authenticator apps. */
function withoutContacts(ids: Record<string, string>) {
  const records = new Map<string, RecordedFactors>()
  const made = host({
    options: {
      ...EMPTY_RECORD,
      factors: () => [],
      onFactorsChanged: (user, factors) => records.set(user.id, factors),
      recordedFactors: (user) => records.get(user.id) ?? EMPTY_RECORD.recordedFactors(),
    },
  })
  for (const [name, id] of Object.entries(ids)) {
    Object.assign(made.users, { [name]: { id, factors: [] } })
  }
  return { ...made, records }
}

describe('a user without an email address and phone number', () => {
  it('sets up an authenticator app, and signs in with it', async () => {
    const { app, records, standIn } = withoutContacts({ uma: '1042' })
    const browser = browserAgent(app)
    await login(browser, 'uma').type('form').expect(200)
    const start = await browser.get('/mfa/enroll-app').expect(200)
    expect(start.text).toContain('<h1>Set up an authenticator app</h1>')
    const shown = await browser.post('/mfa/enroll-app').type('form').redirects(1).expect(200)
    expect(shown.text).toContain('JBSW Y3DP EHPK 3PXP')
    await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: '123456' })
    expect(records.get('1042')).toEqual({ app: true, keys: false, backupCodes: false })
    expect(standIn.calls.at(-1)?.request).toMatchObject({ contact: { email: '1042@account.invalid' } })

    standIn.setApp('1042@account.invalid', '424242')
    const again = jsonAgent(app)
    await login(again, 'uma').expect(200)
    const state = await again.get('/mfa').expect(200)
    expect(state.body.factors).toEqual([{ id: 'app', method: 'app', to: '', strength: 'strong' }])
    await verify(again, '424242', { factor: 'app' }).expect(200)
    const page = await again.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).not.toContain('account.invalid')
  })

  it('has an account of their own at the service, however their id is written', async () => {
    const { app, standIn } = withoutContacts({ upper: 'ID-7', lower: 'id-7', mail: 'x@y.example' })
    for (const name of ['upper', 'lower', 'mail']) {
      const agent = jsonAgent(app)
      await login(agent, name).expect(200)
      await agent.post('/mfa/enroll-app').expect(200)
      await agent.post('/mfa/enroll-app/confirm').send({ code: '123456' }).expect(200)
    }
    const enrolled = standIn.calls.filter(({ verb }) => verb === 'enrollApp')
    const names = enrolled.map(({ request }) => (request as RequestOf<'enrollApp'>).contact).map(formatUser)
    expect(new Set(names).size).toBe(3)
    expect(names).toContain('id-7@account.invalid')
    for (const name of names) expect(name).toMatch(/^[a-z0-9.-]+@account\.invalid$/)
  })
})
