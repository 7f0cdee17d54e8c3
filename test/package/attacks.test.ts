import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresMissing } from '../../service/test/postgres.js'
import { hasMovableClock } from '../journeys/kit/clock.js'
import { HOUR } from '../kit/clock.js'
import { redisMissing } from '../kit/redis.js'
import { type Deployment, deploy } from './deployments/deployment.js'
import { type DeployedProject, deployedProject } from './deployments/project.js'
import {
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
} from './deployments/users.js'

const isMissing = postgresMissing !== undefined || redisMissing !== undefined || !hasMovableClock()
let project: DeployedProject | undefined

afterAll(() => project?.dispose())

/*
 * The attacker knows the password of the user. In most tests he also reads one of the user's contacts.
 */
describe.skipIf(isMissing).each(['Redis', 'PostgreSQL'] as const)(
  'an attacker on two processes of app and service, packed, with %s',
  (store) => {
    let deployment: Deployment
    beforeAll(async () => {
      project ??= await deployedProject()
      deployment = await deploy(project, store)
    })
    afterAll(() => deployment?.stop())

    it('does not stay signed in by the password in a process that has not heard of the new app (R133)', async () => {
      const user = await register(deployment)
      const [owner, attacker] = [deployment.browser(), deployment.browser()]
      await typePassword(attacker.one, user)
      await expectInside(attacker.one, user)
      await expectInside(attacker.other, user)
      await typePassword(owner.one, user)
      const secret = await enrollApp(deployment, owner.one)
      await expectOutside(attacker.other)
      await expectOutside(attacker.one)
      const late = deployment.browser()
      expect(await typePassword(late.other, user)).toBe('pending')
      await expectOutside(late.other)
      await showAppCode(deployment, late.other, secret)
      await expectInside(late.one, user)
      await expectInside(owner.other, user)
    })

    it('cannot replace the app of the owner with what a finished recovery permitted before (R135)', async () => {
      const user = await register(deployment, (one) => [byEmail(one), bySms(one)])
      const lost = deployment.browser()
      await typePassword(lost.one, user)
      await showSentCode(deployment, lost.one, user, 'sms')
      await enrollApp(deployment, lost.one)
      await recover(user, 'sms')

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

    /** Has a user who lost the app recover the account, up to the confirmation. */
    async function recover(user: Parameters<typeof typePassword>[1], factor: 'email' | 'sms') {
      const asking = deployment.browser()
      await typePassword(asking.one, user)
      await showSentCode(deployment, asking.one, user, factor)
      await asking.one.post('/mfa/recover').send({}).expect(200)
      await deployment.clock.pass(12 * HOUR)
      await asking.other.get('/account')
      await deployment.mail.notice(user.email, 'recovery_reminder')
      await deployment.mail.notice(user.phone, 'recovery_reminder')
      await deployment.clock.pass(12 * HOUR)
      const completing = deployment.browser()
      await typePassword(completing.other, user)
      await showSentCode(deployment, completing.other, user, factor)
      await completing.other.post('/mfa/recover/complete').send({}).expect(200)
      return completing
    }
  },
)
