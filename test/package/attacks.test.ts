import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { postgresMissing } from '../../service/test/postgres.js'
import { addKey, signInWithKey, softwareAuthenticator } from '../../src/testing/index.js'
import { totpCode } from '../../src/testing/service.js'
import { hasMovableClock } from '../journeys/kit/clock.js'
import { approveChange, byCode, sendApproved } from '../kit/approved-change.js'
import { HOUR, MINUTE, SECOND } from '../kit/clock.js'
import { isLong } from '../kit/long.js'
import type { RunningProcess } from '../kit/process.js'
import { redisMissing } from '../kit/redis.js'
import { challenge, verify } from '../kit/sign-in.js'
import type { Browser } from './deployments/browser.js'
import { type Deployment, deploy, ORIGIN } from './deployments/deployment.js'
import { join, linkIn, type Operator, post, signUp, verifyAgain } from './deployments/operators.js'
import { expectNoCircle, fieldsOn } from './deployments/pages.js'
import { type DeployedProject, deployedProject } from './deployments/project.js'
import { completeRecovery, recover, requestRecovery, waitForRecovery } from './deployments/recovery.js'
import type { OddAnswer } from './deployments/service-proxy.js'
import { openSocket } from './deployments/sockets.js'
import {
  approveBySms,
  byEmail,
  bySms,
  enrollApp,
  expectInside,
  expectOutside,
  nextAppCode,
  register,
  showAppCode,
  showSentCode,
  typePassword,
  type User,
} from './deployments/users.js'

const isMissing = postgresMissing !== undefined || redisMissing !== undefined || !hasMovableClock()
let project: DeployedProject | undefined

/** The stores of limits and cookies; PostgreSQL only in `npm run test:long`, since `stores.at-once.test.ts` compares what both do. */
const STORES = isLong ? (['Redis', 'PostgreSQL'] as const) : (['Redis'] as const)

afterAll(() => project?.dispose())

/*
 * The attacker knows the password of the user, and in some tests reads one of the user's contacts or is an administrator.
 */
describe.skipIf(isMissing).each(STORES)(
  'an attacker on two processes of app and service, packed, with %s',
  (store) => {
    let deployment: Deployment
    let bare: Promise<RunningProcess> | undefined
    let admin: Promise<Operator> | undefined
    beforeAll(async () => {
      project ??= await deployedProject()
      deployment = await deploy(project, store)
    })
    afterAll(() => deployment?.stop())

    it('is not signed in while something else answers for the service at first contact (R131)', async () => {
      const user = await register(deployment)
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      const secret = await enrollApp(deployment, owner.one)
      const { url } = await deployment.startApp()
      const attacker = deployment.browser(url)
      onTestFinished(() => deployment.proxy.answer('/v1/service'))
      for (const odd of ODD_ANSWERS) {
        deployment.proxy.answer('/v1/service', odd)
        const login = attacker.one.post('/login').send({ name: user.id, password: 'a good password' })
        expect([odd.status, (await login).status]).toEqual([odd.status, 503])
        await expectOutside(attacker.one)
      }
      deployment.proxy.answer('/v1/service')
      const late = deployment.browser(url)
      expect(await typePassword(late.one, user)).toBe('pending')
      await expectOutside(late.one)
      await showAppCode(deployment, late.one, secret)
      await expectInside(late.one, user)
    })

    it('is not let in while the only factor of the user, a passkey, cannot be used (R132)', async () => {
      const user = await register(deployment)
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      const authenticator = softwareAuthenticator()
      await addKey(owner.one, { authenticator, origin: ORIGIN })

      const setting = (...change: readonly string[]) =>
        deployment.operate('app', 'settings', 'default', ...change)
      const switchedOff = {
        off: () => setting('methods=app,email,sms,security-key', '--lock-out'),
        on: () => setting('--unset', 'methods'),
      }
      const withoutRelyingParty = {
        off: async () => deployment.proxy.passTo(await bareService()),
        on: async () => deployment.proxy.passTo(...deployment.services),
      }
      for (const { off, on } of [switchedOff, withoutRelyingParty]) {
        onTestFinished(async () => void (await on()))
        await off()
        await deployment.clock.pass(MINUTE)
        const attacker = deployment.browser()
        expect(await typePassword(attacker.one, user)).toBe('pending')
        await expectOutside(attacker.one)
        await expectOutside(attacker.other)
        await on()
        await deployment.clock.pass(MINUTE)
      }

      const late = deployment.browser()
      expect(await typePassword(late.other, user)).toBe('pending')
      await signInWithKey(late.other, { authenticator, origin: ORIGIN })
      await expectInside(late.one, user)
    })

    it('does not stay signed in by the password in a process that has not heard of the new app, after ten seconds (R133)', async () => {
      const user = await register(deployment)
      const [owner, attacker] = [deployment.browser(), deployment.browser()]
      await typePassword(attacker.one, user)
      await expectInside(attacker.one, user)
      await expectInside(attacker.other, user)
      await typePassword(owner.one, user)
      const secret = await enrollApp(deployment, owner.one)
      await deployment.clock.pass(10 * SECOND)
      await expectOutside(attacker.other)
      await expectOutside(attacker.one)
      const late = deployment.browser()
      expect(await typePassword(late.other, user)).toBe('pending')
      await expectOutside(late.other)
      await showAppCode(deployment, late.other, secret)
      await expectInside(late.one, user)
      await expectInside(owner.other, user)
    })

    it('gets no WebSocket with a pending login (R134)', async () => {
      const user = await register(deployment, (one) => [bySms(one)])
      const [attacker, owner] = [deployment.browser(), deployment.browser()]
      await typePassword(attacker.one, user)
      await typePassword(owner.one, user)
      await showSentCode(deployment, owner.one, user, 'sms')
      for (const path of ['/live', '/as-ws-shows-it']) {
        expect(await openSocket(attacker.one, path)).toBe(401)
        expect(await openSocket(attacker.other, path)).toBe(401)
        expect(await openSocket(owner.other, path)).toBe(`Hello ${user.id}`)
      }
    })

    it('cannot replace the app of the owner with what a finished recovery permitted before (R135)', async () => {
      const user = await register(deployment, (one) => [byEmail(one), bySms(one)])
      await enrollWithSms(user)
      await recover(deployment, user)

      const attacker = deployment.browser()
      await typePassword(attacker.one, user)
      expect(await showSentCode(deployment, attacker.one, user, 'email')).toMatchObject({
        status: 'enrollment_required',
      })
      const { body: prepared } = await attacker.one.post('/mfa/enroll-app').send({}).expect(200)
      const owner = deployment.browser()
      await typePassword(owner.other, user)
      await showSentCode(deployment, owner.other, user, 'sms')
      const secret = await enrollApp(deployment, owner.other)
      const code = await nextAppCode(deployment, prepared.secret)
      const confirmed = await attacker.one.post('/mfa/enroll-app/confirm').send({ code })
      expect(confirmed.status).toBeGreaterThanOrEqual(400)
      const again = await attacker.one.post('/mfa/enroll-app').send({})
      expect(again.status).toBeGreaterThanOrEqual(400)
      await expectOutside(attacker.one)
      const late = deployment.browser()
      await typePassword(late.one, user)
      await showAppCode(deployment, late.one, secret)
      await expectInside(late.other, user)
    })

    it('does not keep an app that it confirms in one process while the other resets the account (R07, R94)', async () => {
      for (const ms of [0, 10, 50]) {
        const user = await register(deployment, (one) => [byEmail(one)])
        const attacker = deployment.browser()
        await typePassword(attacker.one, user)
        await showSentCode(deployment, attacker.one, user, 'email')
        const enroll = () => attacker.one.post('/mfa/enroll-app').send({})
        const approve = byCode(attacker.one, () => deployment.mail.code(user.email))
        const { secret } = (await sendApproved(attacker.one, enroll, approve)).body
        const code = totpCode(secret, deployment.clock.now())
        const confirming = attacker.one.post('/mfa/enroll-app/confirm').send({ code }).then()
        await wait(ms)
        const owner = deployment.browser()
        const reset = await owner.other.post(`/desk/reset/${user.id}`).expect(200)
        await confirming
        await expectOutside(attacker.other)

        await typePassword(owner.other, user)
        await verify(owner.other, reset.body.code, { factor: 'bypass' }).expect(200)
        const own = await enrollApp(deployment, owner.other)
        const late = deployment.browser()
        await typePassword(late.one, user)
        await verify(late.one, await nextAppCode(deployment, secret), { factor: 'app' }).expect(401)
        await showAppCode(deployment, late.one, own)
        await expectInside(late.other, user)
      }
    })

    it('cannot change the phone number on a route of the app with the phone of a user who has a passkey (R136)', async () => {
      const user = await register(deployment, (one) => [bySms(one)])
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      await showSentCode(deployment, owner.one, user, 'sms')
      await approveBySms(deployment, owner.one, user, '/mfa/keys/options', { method: 'passkey' })
      const authenticator = softwareAuthenticator()
      await addKey(owner.one, { authenticator, origin: ORIGIN })
      const changePhone = (browser: Browser) =>
        browser.other.post('/account/phone').send({ phone: '+447700900999' })

      const attacker = deployment.browser()
      await typePassword(attacker.one, user)
      await showSentCode(deployment, attacker.one, user, 'sms')
      await expectInside(attacker.other, user)
      expect((await changePhone(attacker).expect(401)).body.code).toBe('step_up_required')
      const { body } = await owner.one.get('/account').expect(200)
      expect(body.factors).toEqual([bySms(user)])

      await deployment.clock.pass(10 * MINUTE)
      await changePhone(owner).expect(401)
      await signInWithKey(owner.one, { authenticator, origin: ORIGIN })
      await changePhone(owner).expect(200)
    })

    it('cannot set up the first factor in a session that the policy let pass without one (R120)', async () => {
      const user = await register(deployment)
      const attacker = deployment.browser()
      expect(await typePassword(attacker.one, user, '/sso')).toBe('none')
      await expectInside(attacker.one, user)
      const refused = await attacker.other.post('/mfa/enroll-app').send({})
      expect(refused.status).toBeGreaterThanOrEqual(400)
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      const secret = await enrollApp(deployment, owner.one)
      const late = deployment.browser()
      expect(await typePassword(late.other, user)).toBe('pending')
      await showAppCode(deployment, late.other, secret)
      await expectInside(late.one, user)
    })

    it('does not complete a recovery of which one contact heard nothing at first (R94)', async () => {
      const user = await register(deployment, (one) => [byEmail(one), bySms(one)])
      const secret = await enrollWithSms(user)
      deployment.mail.refuse(user.email)
      const attacker = await requestRecovery(deployment, user)
      await deployment.clock.pass(12 * HOUR)
      await attacker.other.get('/mfa/recover')
      await deployment.clock.pass(12 * HOUR)
      expect((await completeRecovery(deployment, user)).status).toBe(409)
      deployment.mail.refuse(user.email, false)
      const late = deployment.browser()
      await typePassword(late.one, user)
      await showAppCode(deployment, late.one, secret)
      await expectInside(late.other, user)
    })

    it('loses the recovery when the owner signs in with a passkey of the app itself (R94)', async () => {
      const user = await register(deployment, (one) => [byEmail(one), bySms(one)])
      await enrollWithSms(user)
      await requestRecovery(deployment, user)
      const owner = deployment.browser()
      expect(await typePassword(owner.other, user, '/passkey-login')).toBe('verified')
      await deployment.mail.notice(user.email, 'recovery_canceled')
      await deployment.clock.pass(24 * HOUR)
      expect((await completeRecovery(deployment, user)).status).toBe(404)
    })

    it('is not trusted any more in a browser after the owner added a key (R66)', async () => {
      const user = await register(deployment, (one) => [bySms(one)])
      const attacker = deployment.browser()
      await typePassword(attacker.one, user)
      await challenge(attacker.one, 'sms').expect(200)
      const code = await deployment.mail.code(user.phone)
      expect((await verify(attacker.one, code, { trust: true }).expect(200)).body.trusted).toBe(true)
      await attacker.other.post('/logout').expect(200)
      await typePassword(attacker.other, user)
      await expectInside(attacker.one, user)

      const owner = deployment.browser()
      await typePassword(owner.one, user)
      await showSentCode(deployment, owner.one, user, 'sms')
      await approveBySms(deployment, owner.one, user, '/mfa/keys/options', { method: 'passkey' })
      await expectInside(attacker.one, user)
      const authenticator = softwareAuthenticator()
      await addKey(owner.one, { authenticator, origin: ORIGIN })
      await expectOutside(attacker.other)
      await attacker.one.post('/logout')
      expect(await typePassword(attacker.one, user)).toBe('pending')
      await expectOutside(attacker.other)
      await owner.other.post('/logout').expect(200)
      await typePassword(owner.other, user)
      await signInWithKey(owner.other, { authenticator, origin: ORIGIN })
      await expectInside(owner.one, user)
    })

    it('adds no key with which everybody can sign (R107)', async () => {
      const user = await register(deployment)
      const browser = deployment.browser()
      await typePassword(browser.one, user)
      const options = await browser.one.post('/mfa/keys/options').send({ method: 'passkey' }).expect(200)
      const weak = withExponentOne(options.body.publicKey)
      const refused = await browser.other.post('/mfa/keys').send({ method: 'passkey', response: weak })
      expect([refused.status, refused.body.code]).toEqual([401, 'invalid_key'])
      const authenticator = softwareAuthenticator({ algorithm: 'RS256' })
      await addKey(browser.other, { authenticator, origin: ORIGIN })
      const late = deployment.browser()
      await typePassword(late.one, user)
      await signInWithKey(late.one, { authenticator, origin: ORIGIN })
      await expectInside(late.other, user)
    })

    it('is no second operator with an account that he invited, in the other console (R137)', async () => {
      const ann = await administrator()
      const user = await register(deployment)
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      const secret = await enrollApp(deployment, owner.one)

      await verifyAgain(deployment, ann)
      const email = 'second@example.com'
      const invited = await post(ann.browser.one, '/console/operators/invite', { email, role: 'support' })
      const second = await join(deployment, linkIn(invited.text) ?? '', email)
      await verifyAgain(deployment, second)
      const found = await post(second.browser.one, '/console/search', { find: user.id }).expect(303)
      const asked = await post(second.browser.one, `${found.headers.location}/disable`, { factor: 'app' })
      expect(asked.text).toContain('Nothing is changed yet')
      const approval = fieldsOn((await second.browser.other.get('/console/approvals').expect(200)).text)
      await verifyAgain(deployment, ann)
      await post(ann.browser.other, '/console/approvals/approve', approval).expect(422)
      const late = deployment.browser()
      await typePassword(late.one, user)
      await showAppCode(deployment, late.one, secret)
      await expectInside(late.other, user)

      const bob = await signUp(deployment, 'support', 'bob@example.com')
      await verifyAgain(deployment, bob)
      await post(bob.browser.other, '/console/approvals/approve', approval).expect(200)
    })

    it('sends no operator to another host by the Host header of an invitation (R140)', async () => {
      const ann = await administrator()
      const unaddressed = deployment.consoleBrowser(await bareService())
      unaddressed.one.jar = ann.browser.one.jar
      await verifyAgain(deployment, ann)
      const email = 'invited@example.com'
      const invite = async ({ one }: Browser) => {
        const invitation = post(one, '/console/operators/invite', { email, role: 'viewer' })
        const { text } = await invitation.set(FORGED_HOST)
        expect(text).not.toContain('evil.example')
        return linkIn(text)
      }
      await invite(unaddressed)
      const link = await invite(ann.browser)
      const { browser } = await join(deployment, link ?? '', email)
      await browser.other.get('/console').expect(200)
    })

    it('adds no origin of keys with an old session of an administrator (R106)', async () => {
      const ann = await administrator()
      const path = '/console/applications/default'
      const shown = async () => fieldsOn((await ann.browser.one.get(path).expect(200)).text)
      const relyingParty = {
        relyingPartyId: 'localhost',
        relyingPartyOrigins: `${ORIGIN},http://evil.localhost`,
      }
      const before = await shown()
      const changed = { ...before, ...relyingParty }
      await deployment.clock.pass(11 * MINUTE)
      await post(ann.browser.other, path, changed).expect(303)
      expect(await shown()).toEqual(before)
      await verifyAgain(deployment, ann)
      await post(ann.browser.other, path, changed).expect(200)
      expect((await shown())['seen.relyingPartyOrigins']).toBe(relyingParty.relyingPartyOrigins)
    })

    it('cannot keep a user who recovers with backup codes of a page in a circle of pages (R138)', async () => {
      const user = await register(deployment)
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      const ownSecret = await enrollApp(deployment, owner.one)
      const byApp = byCode(owner.one, () => nextAppCode(deployment, ownSecret))
      await approveChange(owner.one, '/mfa/backup/codes', byApp)
      const { body } = await owner.one.post('/mfa/backup/codes').send({}).expect(200)
      const codes: string[] = [...body.codes]
      const showBackupCode = async ({ other }: Browser) => {
        await verify(other, codes.shift(), { factor: 'backup' }).expect(200)
      }

      const asking = deployment.browser()
      await typePassword(asking.one, user)
      await expectNoCircle(asking)
      await showBackupCode(asking)
      await expectNoCircle(asking)
      await asking.one.post('/mfa/recover').send({}).expect(200)
      await expectNoCircle(asking)
      await waitForRecovery(deployment, asking, [user.email])

      const completing = deployment.browser()
      await typePassword(completing.one, user)
      await expectNoCircle(completing)
      await showBackupCode(completing)
      await expectNoCircle(completing)
      await completing.one.post('/mfa/recover/complete').send({}).expect(200)
      await expectNoCircle(completing)
      const late = deployment.browser()
      await typePassword(late.one, user)
      await expectNoCircle(late)
      const secret = await enrollApp(deployment, completing.other)
      await expectInside(completing.one, user)
      await expectNoCircle(completing)
      await typePassword(late.one, user)
      await showAppCode(deployment, late.one, secret)
      await expectInside(late.other, user)
    })

    it('does not delay others with 1,000 requests for one account (R139)', async () => {
      const others = await Promise.all(
        Array.from({ length: 20 }, () => register(deployment, (one) => [bySms(one)])),
      )
      const victim = await register(deployment)
      const flood = deployment.flood(victim.email)
      await Promise.all(
        others.map(async (user) => {
          const browser = deployment.browser()
          await typePassword(browser.one, user)
          await showSentCode(deployment, browser.other, user, 'sms')
          await expectInside(browser.one, user)
        }),
      )
      // Requests for an account that is busy already.
      expect((await flood)[429]).toBeGreaterThan(0)
    })

    /** The only administrator of the services. */
    const administrator = () => {
      admin ??= signUp(deployment, 'admin', 'ann@example.com')
      return admin
    }

    /** A service process that was started without a relying party and without the address of its console. */
    async function bareService(): Promise<string> {
      bare ??= deployment.startService({
        SERVICE_RELYING_PARTY_ID: '',
        SERVICE_RELYING_PARTY_ORIGINS: '',
        SERVICE_CONSOLE_URL: '',
      })
      return (await bare).url
    }

    /** Sets up an app for a user who has a phone, and returns its secret. */
    async function enrollWithSms(user: User): Promise<string> {
      const owner = deployment.browser()
      await typePassword(owner.one, user)
      await showSentCode(deployment, owner.one, user, 'sms')
      await approveBySms(deployment, owner.one, user, '/mfa/enroll-app')
      return enrollApp(deployment, owner.one)
    }
  },
)

/** Answers that load balancers, proxies and captive portals give in place of the service. */
const ODD_ANSWERS: readonly OddAnswer[] = [
  { status: 404, body: 'Not Found' },
  { status: 401, headers: { 'content-type': 'application/json' }, body: '{"error":"unauthorized"}' },
  { status: 302, headers: { location: '/portal' } },
  { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in to the network</h1>' },
]

const FORGED_HOST = {
  host: 'evil.example',
  'x-forwarded-host': 'evil.example',
  forwarded: 'host=evil.example',
}

/** The registration of an RSA key with the exponent 1: every message is its own signature. */
function withExponentOne(options: object) {
  const registration = softwareAuthenticator({ algorithm: 'RS256' }).create(options, { origin: ORIGIN })
  const attestation = Buffer.from(registration.response.attestationObject, 'base64url')
  // RFC 8230 §4: the label -2, and three bytes.
  const exponent = attestation.indexOf(Buffer.from([0x21, 0x43, 1, 0, 1]))
  attestation.set([0, 0, 1], exponent + 2)
  const response = { ...registration.response, attestationObject: attestation.toString('base64url') }
  return { ...registration, response }
}
