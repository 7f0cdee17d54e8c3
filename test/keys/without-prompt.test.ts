import { afterEach, describe, expect, it, vi } from 'vitest'
import { createMfa } from '../../src/index.js'
import { type SoftwareAuthenticator, softwareAuthenticator } from '../../src/testing/index.js'
import { MINUTE, stopClock } from '../kit/clock.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent } from '../kit/host.js'
import { login } from '../kit/sign-in.js'
import { type KeyHost, keyHost, PAGE, signedIn } from './kit.js'

afterEach(() => void vi.useRealTimers())

type HostOptions = NonNullable<Parameters<typeof keyHost>[0]>['options'] & object
type Agent = ReturnType<typeof browserAgent>

const OFFER = { keys: { offerPasskey: '30d' } } as const

/** The page as a password manager answers it that creates a passkey without a prompt: nobody was present or verified. */
const UNPROMPTED = { ...PAGE, changes: { flags: { userPresent: false, userVerified: false } } }

/** A password manager with passkeys. */
const passwordManager = () => softwareAuthenticator({ attachment: 'platform', backupEligible: true })

/** A browser that shows the page of the offer after a sign-in with a code. */
async function offered(made: KeyHost, name = 'bob', factor = 'sms'): Promise<Agent> {
  const browser = await withPassword(made, name)
  await browser.post('/mfa/challenge').type('form').send({ factor }).expect(303)
  const [message] = made.kit.inbox.all()
  await browser.post('/mfa/verify').type('form').send({ code: message?.code }).expect(303)
  return browser
}

/** A browser that has shown the password. */
async function withPassword(made: KeyHost, name = 'bob'): Promise<Agent> {
  const browser = browserAgent(made.app)
  await login(browser, name).type('form').expect(200)
  return browser
}

/** The first request of the script of the page. */
const ask = (browser: Agent, fields: object = { mediation: 'conditional' }) =>
  browser
    .post('/mfa/keys/options')
    .set('Accept', 'application/json')
    .send({ method: 'passkey', ...fields })

/** The request that the script sends once the password manager has created a passkey. */
const add = (browser: Agent, response: object) =>
  browser.post('/mfa/keys').set('Accept', 'application/json').send({ method: 'passkey', response })

async function created(browser: Agent, device: SoftwareAuthenticator, fields?: object) {
  const { body } = await ask(browser, fields).expect(200)
  return device.create(body.publicKey, UNPROMPTED)
}

/** Everything that the sessions of a host hold. */
const storedIn = ({ store }: KeyHost) =>
  Object.values((store as unknown as { sessions: Record<string, string> }).sessions).join()

const offerPage = async (browser: Agent) => (await browser.get('/mfa/keys/offer').expect(200)).text
const TRIES = 'data-mfa-created="/mfa/keys?saved"'
const sessionOf = async (browser: Agent) => (await browser.get('/secret').expect(200)).body.mfa

describe('a passkey without a prompt', () => {
  it('is added beside the other factors, and the user is notified; the session is as strong as before (R72, R107)', async () => {
    const made = keyHost({ options: OFFER })
    const browser = await offered(made)
    expect(await offerPage(browser)).toContain(TRIES)
    const before = await sessionOf(browser)
    const device = passwordManager()
    const { body } = await add(browser, await created(browser, device)).expect(200)
    expect(body).toMatchObject({ status: 'added', key: { method: 'passkey', synced: true } })
    expect(made.types()).toContain('key_added')
    expect(made.notices).toMatchObject([{ type: 'factor_added', method: 'passkey' }])

    const after = await sessionOf(browser)
    expect(after).toEqual(before)
    expect(after.amr).toEqual(['pwd', 'sms', 'mfa'])
    // A change that needs the strongest factor needs the passkey from now on.
    expect((await ask(browser, {}).expect(401)).body).toMatchObject({
      code: 'step_up_required',
      factors: [{ id: 'passkey' }],
    })
    const page = await browser.get('/mfa/keys?saved').expect(200)
    expect(page.text).toContain('Your browser saved a passkey for your account.')
    expect(page.text).toContain('/mfa/keys/remove?key=')
    expect(page.text).toContain('href="/"')

    // It signs in as every passkey does: with a user who is present and verified.
    const again = await signedIn(made, 'bob')
    const verify = async (flags: object) => {
      const { body: challenged } = await again.post('/mfa/challenge').send({ factor: 'passkey' }).expect(200)
      const response = device.get(challenged.publicKey, { ...PAGE, changes: { flags } })
      return again.post('/mfa/verify').send({ response })
    }
    expect((await verify({ userPresent: false })).body).toMatchObject({ fault: 'user_presence' })
    expect((await verify({ userVerified: false })).body).toMatchObject({ fault: 'user_verification' })
    expect((await verify({})).status).toBe(200)
    expect((await again.get('/secret').expect(200)).body.mfa.amr).toEqual(['pwd', 'swk', 'user', 'mfa'])
    await again.post('/mfa/keys/remove').send({ key: body.key.id }).expect(200)
    expect((await again.get('/mfa/keys')).body.keys).toEqual([])
  })

  it('is accepted for a challenge of that kind only, which works once (R69, R70)', async () => {
    const made = keyHost({ options: OFFER })
    const browser = await offered(made)
    const device = passwordManager()
    const asked = await created(browser, device, {})
    expect((await add(browser, asked).expect(401)).body).toMatchObject({
      code: 'invalid_key',
      fault: 'user_presence',
    })
    const response = await created(browser, passwordManager())
    await add(browser, response).expect(200)
    expect((await add(browser, response)).status).toBe(401)
    expect(made.notices).toHaveLength(1)
  })

  it('is tried once for each offer, and the user can add one by hand after a failure', async () => {
    const made = keyHost({ options: OFFER })
    const browser = await offered(made)
    await ask(browser).expect(200)
    expect((await ask(browser).expect(403)).body.code).toBe('enrollment_not_allowed')
    expect(await offerPage(browser)).not.toContain(TRIES)
    const { body } = await ask(browser, {}).expect(200)
    expect(body.publicKey.authenticatorSelection.userVerification).toBe('required')
    await add(browser, passwordManager().create(body.publicKey, PAGE)).expect(200)
    expect((await sessionOf(browser)).amr).toEqual(['pwd', 'sms', 'swk', 'user', 'mfa'])
  })

  it('counts no attempt when its response is refused', async () => {
    const made = keyHost({ options: OFFER })
    const browser = await offered(made)
    const response = await created(browser, passwordManager())
    const foreign = { ...response, id: 'b3RoZXI', rawId: 'b3RoZXI' }
    expect((await add(browser, foreign).expect(401)).body.code).toBe('invalid_key')
    expect(made.types()).not.toContain('repeated_failures')
    expect(made.notices).toEqual([])
    await browser.get('/secret').expect(200)
    // The user adds one by hand.
    await ask(browser, {}).expect(200)
  })

  it('is created with a method and mediation that fit each other only', async () => {
    const browser = await offered(keyHost({ options: OFFER }))
    const fields = [{ method: 'security-key', mediation: 'conditional' }, { mediation: 'silent' }]
    await everyCase(fields, async (given) => {
      expect((await ask(browser, given).expect(400)).body.code).toBe('invalid_request')
    })
  })

  it('is created only right after a sign-in that offers a passkey (R55, R92)', () =>
    everyCase<[string, HostOptions, (made: KeyHost) => Promise<Agent>, number, string]>(
      [
        ['no offer', { keys: true }, offered, 403, 'enrollment_not_allowed'],
        ['a pending login', OFFER, withPassword, 401, 'mfa_required'],
        [
          'let pass by the policy',
          { ...OFFER, policy: () => 'skip' },
          withPassword,
          403,
          'enrollment_not_allowed',
        ],
        [
          'a factor that is not the strongest',
          OFFER,
          (made) => offered(made, 'alice', 'email'),
          403,
          'enrollment_not_allowed',
        ],
        // The account could not be used without the passkey, on any device.
        ['noDowngrade', { ...OFFER, login: { noDowngrade: true } }, offered, 403, 'enrollment_not_allowed'],
      ],
      async ([_, options, open, status, code]) => {
        const made = keyHost({ options })
        const browser = await open(made)
        const { body } = await ask(browser).expect(status)
        expect(body.code).toBe(code)
        expect((await browser.get('/mfa/keys/offer')).text).not.toContain(TRIES)
        // It asks nothing of the user, who would have to step up to add one by hand.
        expect(storedIn(made)).not.toContain('stepUp')
      },
    ))

  it('is created within five minutes of the sign-in, and added within five more (R55)', async () => {
    const clock = stopClock()
    const late = await offered(keyHost({ options: OFFER }))
    const slow = await offered(keyHost({ options: OFFER }))
    clock.move(4 * MINUTE)
    const response = await created(slow, passwordManager())
    clock.move(4 * MINUTE)
    expect((await ask(late).expect(403)).body.code).toBe('enrollment_not_allowed')
    await add(slow, response).expect(200)
  })

  it('is not created while a member of staff acts for the user (R118)', async () => {
    const made = keyHost({
      options: OFFER,
      beforeGate: (app, auth) => void app.use(auth.initialize()),
      routes: (app, options) => {
        const mfa = createMfa(options)
        app.post('/act', async (req, res) => {
          await mfa.account.actAs(req, made.users.dora as never, { reason: 'ticket 7' })
          res.json({})
        })
      },
    })
    const browser = await offered(made)
    await browser.post('/act').expect(200)
    expect((await ask(browser).expect(403)).body.code).toBe('acting')
  })
})
