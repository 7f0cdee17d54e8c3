import { describe, expect, it } from 'vitest'
import type { MfaService } from '../../src/index.js'
import { softwareAuthenticator } from '../../src/testing/index.js'
import { addKey, keyHost, PAGE, signedIn } from '../keys/kit.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { browserAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'

/*
 * A script on a page of the host sends requests in the session of a user who has just signed in. It can send every request that the
 * user's pages send, and cannot show a factor.
 */

type Agent = Awaited<ReturnType<typeof signedIn>>

/** The requests that a script would send to get a factor of the attacker's, or backup codes. */
const additions = {
  'Add an authenticator app': (agent: Agent) => agent.post('/mfa/enroll-app').send({}),
  'Add a passkey': (agent: Agent) => agent.post('/mfa/keys/options').send({ method: 'passkey' }),
  'Add a security key': (agent: Agent) => agent.post('/mfa/keys/options').send({ method: 'security-key' }),
  'Show new backup codes': (agent: Agent) => agent.post('/mfa/backup/codes').send({}),
}

/** A service that returns backup codes for a page, which that of the test kit does not. */
const showingCodes = (service: MfaService): MfaService => ({
  ...service,
  createBackupCodes: async () => ({ outcome: 'created', codes: ['AAAA-BBBB-CCCC-DDDD'] }),
})

/** Approves with a text message, whose text is returned. */
async function approveBySms(made: ReturnType<typeof keyHost>, agent: Agent, approval: string) {
  await agent.post('/mfa/challenge').send({ factor: 'sms', approval }).expect(200)
  const [message] = made.kit.inbox.all()
  await agent.post('/mfa/verify').send({ code: message?.code, approval }).expect(200)
  return message
}

describe('a script in a session that has just shown a factor (R55, R92, R121)', () => {
  it.each(Object.entries(additions))('is asked for an approval of its own: %s', async (line, send) => {
    const made = keyHost({ change: showingCodes })
    const agent = await signedIn(made, 'bob', 'sms')
    const { body } = await send(agent).expect(401)
    expect(body).toMatchObject({
      code: 'step_up_required',
      factors: [{ method: 'sms' }],
      approval: { lines: [{ label: 'Two-step verification', value: line }] },
    })
    // The same question stays the same, however often it is asked.
    expect((await send(agent).expect(401)).body.approval.id).toBe(body.approval.id)
    const message = await approveBySms(made, agent, body.approval.id)
    expect(message?.approves).toEqual(body.approval.lines)
    await send(agent).expect(200)
    expect((await send(agent).expect(401)).body.approval.id).not.toBe(body.approval.id)
  })

  it('cannot use the approval of one change for another one', async () => {
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    const { body } = await additions['Add an authenticator app'](agent).expect(401)
    await approveBySms(made, agent, body.approval.id)
    await additions['Add a passkey'](agent).expect(401)
    await additions['Add an authenticator app'](agent).expect(401)
  })

  it('needs no approval for the first factor, and one for the second', async () => {
    const made = keyHost({ options: { factors: () => [] } })
    const agent = await signedIn(made, 'nina')
    await addKey(agent, 'passkey')
    expect((await additions['Add an authenticator app'](agent).expect(401)).body.approval).toBeDefined()
  })

  it('cannot confirm what was approved with a factor that is no longer the strongest', async () => {
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    const { body } = await additions['Add an authenticator app'](agent).expect(401)
    await approveBySms(made, agent, body.approval.id)
    await additions['Add an authenticator app'](agent).expect(200)
    await addKey(await signedIn(made, 'bob', 'sms'), 'passkey')
    const code = made.kit.apps.code('bob@example.com')
    expect((await agent.post('/mfa/enroll-app/confirm').send({ code }).expect(401)).body).toMatchObject({
      code: 'step_up_required',
      factors: [{ method: 'passkey' }],
    })
  })

  it('has a passkey sign the approval', async () => {
    const made = keyHost()
    const first = await signedIn(made, 'bob', 'sms')
    const { device } = await addKey(first, 'passkey')
    const { body } = await additions['Add an authenticator app'](first).expect(401)
    const { id: approval } = body.approval
    const { body: asked } = await first
      .post('/mfa/challenge')
      .send({ factor: 'passkey', approval })
      .expect(200)
    const response = device.get(asked.publicKey, PAGE)
    const given = await first.post('/mfa/verify').send({ response, factor: 'passkey', approval }).expect(200)
    expect(given.body.approval).toMatchObject({ binding: 'signed', method: 'passkey' })
    await additions['Add an authenticator app'](first).expect(200)
  })

  it('is shown to the user on the pages, who approves it and goes on', async () => {
    const made = keyHost()
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
    const code = () => made.kit.inbox.all()[0]?.code
    await browser.post('/mfa/verify').type('form').send({ code: code() }).expect(303)
    // A link to the page asks for nothing yet (R14).
    await browser.get('/mfa/enroll-app').expect(200)
    await browser.post('/mfa/enroll-app').type('form').expect(303).expect('Location', '/mfa')
    const { text } = await browser.get('/mfa').expect(200)
    expect(text).toContain('Add an authenticator app')
    const approval = /name="approval" value="([^"]+)"/.exec(text)?.[1]
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms', approval }).expect(303)
    await browser
      .post('/mfa/verify')
      .type('form')
      .send({ code: code(), approval })
      .expect(303)
      .expect('Location', '/mfa/enroll-app')
    await browser.get('/mfa/enroll-app').expect(200)
    await browser
      .post('/mfa/enroll-app')
      .type('form')
      .expect(303)
      .expect('Location', '/mfa/enroll-app/confirm')
    await browser.get('/mfa/enroll-app/confirm').expect(200)
    const app = made.kit.apps.code('bob@example.com')
    await browser.post('/mfa/enroll-app/confirm').type('form').send({ code: app }).expect(303)
  })

  it('gets one passkey at most out of the offer after a sign-in, and nothing else', async () => {
    stopClock()
    const made = keyHost({ change: showingCodes, options: { keys: { offerPasskey: '30d' } } })
    const browser = browserAgent(made.app)
    await login(browser, 'bob').type('form')
    await browser.post('/mfa/challenge').type('form').send({ factor: 'sms' }).expect(303)
    await browser.post('/mfa/verify').type('form').send({ code: made.kit.inbox.all()[0]?.code }).expect(303)
    const script = browser.set('Accept', 'application/json')
    for (const line of ['Add an authenticator app', 'Add a security key', 'Show new backup codes'] as const)
      await additions[line](script).expect(401)
    const { body } = await additions['Add a passkey'](script).expect(200)
    const create = () => ({
      method: 'passkey',
      response: softwareAuthenticator().create(body.publicKey, PAGE),
    })
    await script.post('/mfa/keys').send(create()).expect(200)
    await additions['Add a passkey'](script).expect(401)
  })

  it('can still change what the five-minute rule covers within five minutes, and not afterwards', async () => {
    const clock = stopClock()
    const made = keyHost()
    const agent = await signedIn(made, 'bob', 'sms')
    await agent.post('/mfa/backup').send({}).expect(200)
    clock.move(5 * MINUTE)
    expect((await agent.post('/mfa/backup').send({}).expect(401)).body.approval).toBeUndefined()
  })
})
