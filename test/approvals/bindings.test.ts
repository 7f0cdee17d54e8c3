import { describe, expect, it, onTestFinished } from 'vitest'
import type { MfaRule } from '../../src/index.js'
import {
  addKey,
  mfaTestKit,
  signInWithKey,
  signInWithMfa,
  softwareAuthenticator,
} from '../../src/testing/index.js'
import { everyCase } from '../kit/every-case.js'
import { jsonAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { itWithSession } from '../kit/transports.js'
import { BILL, payments } from './kit.js'

const RELYING_PARTY = { id: 'shop.example' }
const ORIGIN = 'https://shop.example'
const LINES = [
  { label: 'Amount', value: BILL.amount },
  { label: 'To', value: BILL.to },
]

/** Alice, who has an app, a phone, a mailbox and a passkey, signed in with a code by text message. */
async function alice(rule: MfaRule) {
  const kit = mfaTestKit({ relyingParty: RELYING_PARTY })
  onTestFinished(kit.reset)
  kit.apps.enroll('alice@example.com')
  const { app, done } = payments(rule, { options: { service: kit.service } })
  const agent = jsonAgent(app)
  await login(agent, 'alice')
  await signInWithMfa(agent, { kit, factor: 'app' })
  const authenticator = softwareAuthenticator()
  const approve = (approval: string) => signInWithMfa(agent, { kit, factor: 'app', approval })
  await addKey(agent, { authenticator, approve })
  return { kit, agent, done, authenticator }
}

/** Starts the challenge of a passkey for an approval. */
const startKey = (agent: ReturnType<typeof jsonAgent>, approval: string) =>
  agent.post('/mfa/challenge').send({ factor: 'passkey', approval }).expect(200)

describe('a factor for an approval, with a service that knows approvals (R123, R124)', () => {
  it('is shown in the message with the code, which counts for it only', async () => {
    const { kit, agent, done } = await alice({ bind: { fields: ['amount', 'to'], atLeast: 'shown' } })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    const methods = asked.body.factors.map(({ method }: { method: string }) => method)
    expect(methods.toSorted()).toEqual(['email', 'passkey', 'sms'])
    expect(asked.body).toMatchObject({ backup: false, approval: { atLeast: 'shown', lines: LINES } })
    await signInWithMfa(agent, { kit, factor: 'sms', approval: asked.body.approval.id })
    expect(kit.inbox.all()[0]?.approves).toEqual(LINES)
    await agent.post('/pay').send(BILL).expect(200)
    expect(done).toMatchObject([{ approval: { binding: 'shown', method: 'sms' } }])
  })

  it('is not one whose text message cannot name all of it; others are offered (R146)', async () => {
    const { kit, agent, done } = await alice({ bind: ['amount', 'to'] })
    const to = '123 '.repeat(49).trim()
    const asked = await agent.post('/pay').send({ amount: '5', to }).expect(401)
    const methods = asked.body.factors.map(({ method }: { method: string }) => method)
    expect(methods.toSorted()).toEqual(['app', 'email', 'passkey'])
    const { id } = asked.body.approval
    const refused = await agent.post('/mfa/challenge').send({ factor: 'sms', approval: id }).expect(422)
    expect(refused.body.code).toBe('details_too_long')
    expect(kit.inbox.all().filter(({ approves }) => approves)).toEqual([])
    await signInWithMfa(agent, { kit, factor: 'email', approval: id })
    await agent.post('/pay').send({ amount: '5', to }).expect(200)
    expect(done).toMatchObject([{ approval: { binding: 'shown', method: 'email' } }])
  })

  it('is a backup code of a user who has no other factor than the text message (R146)', async () => {
    const kit = mfaTestKit()
    onTestFinished(kit.reset)
    const { app, done } = payments({ bind: ['amount', 'to'] }, { options: { service: kit.service } })
    const agent = jsonAgent(app)
    await login(agent, 'bob')
    await signInWithMfa(agent, { kit })
    await agent.post('/mfa/backup').send({}).expect(200)

    const unfit = { amount: '5', to: '123 '.repeat(49).trim() }
    const asked = await agent.post('/pay').send(unfit).expect(401)
    expect(asked.body).toMatchObject({ code: 'step_up_required', factors: [], backup: true })
    await signInWithMfa(agent, { kit, factor: 'backup', approval: asked.body.approval.id })
    await agent.post('/pay').send(unfit).expect(200)
    expect(done).toMatchObject([{ approval: { binding: 'entered' } }])
  })

  itWithSession(
    'is none if only text messages are accepted, which names the field, on a page, too (R146)',
    async () => {
      const { agent } = await alice({ bind: ['amount', 'to'], methods: ['sms'] })
      const pay = () => agent.post('/pay').send({ amount: '5', to: '123 '.repeat(49).trim() })
      const refused = await pay().expect(422)
      expect(refused.body).toMatchObject({
        code: 'details_too_long',
        errors: [{ field: 'to', detail: 'does not fit into a text message' }],
      })
      expect((await pay().set('Accept', 'text/html').expect(422)).text).toContain('<bdi>to</bdi>')
      expect((await agent.get('/mfa').expect(200)).body.approval).toBeUndefined()
    },
  )

  it('signs it, if it is a key', async () => {
    const { agent, authenticator, done } = await alice({
      bind: { fields: ['amount', 'to'], atLeast: 'signed' },
    })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    expect(asked.body.factors.map(({ method }: { method: string }) => method)).toEqual(['passkey'])
    await signInWithKey(agent, { authenticator, approval: asked.body.approval.id })
    await agent.post('/pay').send(BILL).expect(200)
    expect(done).toMatchObject([{ approval: { binding: 'signed', method: 'passkey' } }])
  })

  itWithSession('has what it signs on its page, if it is a key', async () => {
    const { agent } = await alice({ bind: ['amount', 'to'] })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    const page = await agent.get('/mfa/verify?factor=passkey').set('Accept', 'text/html').expect(200)
    expect(page.text).toContain('data-mfa-key="use"')
    expect(page.text).toContain(`<bdi class="mfa-act-value">${BILL.amount}</bdi></h1>`)
    expect(page.text).toContain(`<dt><bdi>To</bdi></dt><dd><bdi>${BILL.to}</bdi></dd>`)
    expect(page.text).toContain(`name="approval" value="${asked.body.approval.id}"`)
  })

  it('is only entered, if it is an authenticator app', async () => {
    const { kit, agent, done } = await alice({ bind: ['amount', 'to'] })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    await signInWithMfa(agent, { kit, factor: 'app', approval: asked.body.approval.id })
    await agent.post('/pay').send(BILL).expect(200)
    expect(done).toMatchObject([{ approval: { binding: 'entered', method: 'app' } }])
  })

  it('must be bound as the route says, whichever factor a client names', async () => {
    const { kit, agent, done } = await alice({ bind: { fields: ['amount', 'to'], atLeast: 'signed' } })
    const asked = await agent.post('/pay').send(BILL).expect(401)
    await signInWithMfa(agent, { kit, factor: 'sms', approval: asked.body.approval.id })
    await agent.post('/pay').send(BILL).expect(401)
    expect(done).toEqual([])
  })

  it('counts for nothing else: neither the code nor the signature of another approval', async () => {
    const { kit, agent, authenticator, done } = await alice({ bind: ['amount', 'to'] })
    const first = await agent.post('/pay').send(BILL).expect(401)
    const start = (factor: string, approval: string) =>
      agent.post('/mfa/challenge').send({ factor, approval }).expect(200)
    await start('sms', first.body.approval.id)
    const code = kit.inbox.all()[0]?.code
    kit.clock.advance('1m')
    const second = await agent
      .post('/pay')
      .send({ ...BILL, to: 'mallory' })
      .expect(401)
    const approval = second.body.approval.id
    await start('sms', approval)
    if (kit.inbox.all()[0]?.code !== code) {
      await agent.post('/mfa/verify').send({ code, approval }).expect(401)
    }
    const third = await agent.post('/pay').send(BILL).expect(401)
    const signing = await start('passkey', third.body.approval.id)
    const response = authenticator.get(signing.body.publicKey, { origin: ORIGIN })
    const fourth = await agent
      .post('/pay')
      .send({ ...BILL, to: 'mallory' })
      .expect(401)
    const refused = await agent
      .post('/mfa/verify')
      .send({ factor: 'passkey', response, approval: fourth.body.approval.id })
      .expect(401)
    expect(refused.body).toMatchObject({ code: 'invalid_key', fault: 'challenge' })
    expect(done).toEqual([])
  })
})

describe('a relay that swaps the payee in transit', () => {
  itWithSession('signs in with a code that its victim types, and is refused with a key (R124)', async () => {
    const kit = mfaTestKit({ relyingParty: RELYING_PARTY })
    onTestFinished(kit.reset)
    const rule = { bind: { fields: ['amount', 'to'], atLeast: 'signed' } } as const
    const { app, done, users } = payments(rule, { options: { service: kit.service } })
    const own = jsonAgent(app)
    await login(own, 'bob')
    await signInWithMfa(own, { kit, factor: 'sms' })
    const authenticator = softwareAuthenticator()
    const approve = (approval: string) => signInWithMfa(own, { kit, approval })
    kit.clock.advance('1m')
    await addKey(own, { authenticator, approve })
    expect(users.bob?.factors).toHaveLength(1)

    // The victim types password and code on the page of the relay.
    const relay = jsonAgent(app)
    await login(relay, 'bob')
    await signInWithMfa(relay, { kit, factor: 'sms' })
    expect((await relay.get('/secret').expect(200)).body.mfa.status).toBe('verified')

    const ask = async (body: object) => {
      const asked = await relay.post('/pay').send(body).expect(401)
      expect(asked.body.code).toBe('step_up_required')
      return asked.body.approval.id
    }
    const change = { ...BILL, to: 'mallory' }
    // The victim's key signs nothing on the page of the relay; nor does the service accept what a browser of its own would sign.
    await everyCase(['https://sh0p.example', 'https://shop.example.evil.example'], async (origin) => {
      const approval = await ask(change)
      const options = { authenticator, approval, origin }
      await expect(signInWithKey(relay, options)).rejects.toMatchObject({ name: 'SecurityError' })
      const { publicKey } = (await startKey(relay, approval)).body
      const changes = { clientData: { origin } }
      const response = authenticator.get(publicKey, { origin: ORIGIN, changes })
      const refused = await relay.post('/mfa/verify').send({ factor: 'passkey', response, approval })
      expect([refused.status, refused.body.code, refused.body.fault]).toEqual([401, 'invalid_key', 'origin'])
    })
    expect(done).toEqual([])
  })

  it('is refused when it sends another payee after the key has signed the shown one (R121, R124)', async () => {
    const { agent, authenticator, done } = await alice({
      bind: { fields: ['amount', 'to'], atLeast: 'signed' },
    })
    const pay = (to: string) => agent.post('/pay').send({ ...BILL, to })
    const shown = (await pay('Ana').expect(401)).body.approval.id
    await signInWithKey(agent, { authenticator, approval: shown })
    const swapped = await pay('mallory').expect(401)
    expect(swapped.body.code).toBe('step_up_required')
    // Nor does a signature for the shown payee approve the other one.
    const again = (await pay('Ana').expect(401)).body.approval.id
    const { publicKey } = (await startKey(agent, again)).body
    const response = authenticator.get(publicKey, { origin: ORIGIN })
    const approval = (await pay('mallory').expect(401)).body.approval.id
    const refused = await agent.post('/mfa/verify').send({ factor: 'passkey', response, approval })
    expect([refused.status, refused.body.code, refused.body.fault]).toEqual([401, 'invalid_key', 'challenge'])
    await pay('mallory').expect(401)
    expect(done).toEqual([])
  })
})
