import { expect } from 'vitest'
import { HOUR } from '../../kit/clock.js'
import type { Browser } from './browser.js'
import type { Deployment } from './deployment.js'
import { showSentCode, typePassword, type User } from './users.js'

/** The users of recoveries show this code, which is weaker than their app. */
const FACTOR = 'sms'

/** Signs in with a code to the phone, and requests a recovery. */
export async function requestRecovery(deployment: Deployment, user: User): Promise<Browser> {
  const asking = deployment.browser()
  await typePassword(asking.one, user)
  await showSentCode(deployment, asking.one, user, FACTOR)
  await asking.one.post('/mfa/recover').send({}).expect(200)
  return asking
}

/** Lets the waiting period pass. At half time the other process sends its notices, which are expected at these contacts. */
export async function waitForRecovery(
  { clock, mail }: Deployment,
  asking: Browser,
  contacts: readonly string[],
): Promise<void> {
  await clock.pass(12 * HOUR)
  await asking.other.get('/account')
  for (const contact of contacts) await mail.notice(contact, 'recovery_reminder')
  await clock.pass(12 * HOUR)
}

/** Signs in again in the other process, and confirms the recovery. */
export async function completeRecovery(deployment: Deployment, user: User) {
  const completing = deployment.browser()
  await typePassword(completing.other, user)
  await showSentCode(deployment, completing.other, user, FACTOR)
  return completing.other.post('/mfa/recover/complete').send({})
}

/** Recovers the account of a user who lost the app, up to the confirmation. */
export async function recover(deployment: Deployment, user: User): Promise<void> {
  const asking = await requestRecovery(deployment, user)
  await waitForRecovery(deployment, asking, [user.email, user.phone])
  expect((await completeRecovery(deployment, user)).status).toBe(200)
}
