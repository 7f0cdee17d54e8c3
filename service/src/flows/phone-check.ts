import type { Refused } from 'countersign/protocol'
import type { Application } from '../accounts/application.js'
import type { PhoneQuestion } from '../messages/carriers/phone-check.js'
import { findCountry } from '../messages/contacts/phone.js'
import type { Recipient } from '../messages/texts/compose.js'
import type { FlowContext } from './context.js'
import { phoneAtRisk, refuseUndelivered } from './refusals.js'

/** The refusal of the operator's phone check, if any. It asks about no mailbox, and about nothing that test keys send. */
export async function checkPhones(
  { phoneCheck, activity, log }: Pick<FlowContext, 'phoneCheck' | 'activity' | 'log'>,
  application: Application,
  recipients: readonly Recipient[],
  purpose: PhoneQuestion['purpose'],
): Promise<Refused | undefined> {
  const phone = recipients.find(({ channel }) => channel !== 'email')
  if (!phoneCheck || !phone || application.mode === 'test') return undefined
  const verdict = await phoneCheck.ask({ number: phone.to, purpose })
  const counted = { application: application.id, method: phone.channel, carrier: '' }
  const about = { application: application.id, channel: phone.channel, purpose }
  const { result } = verdict
  const isUnknown = result === 'unknown'
  const count = isUnknown ? 'unchecked' : result === 'ok' ? undefined : 'risky'
  activity.record({ ...counted, country: findCountry(phone.to) ?? '' }, [
    'checked',
    ...(count ? ([count] as const) : []),
  ])
  if (isUnknown) {
    const isSent = phoneCheck.whenUnavailable === 'send'
    const detail = `${verdict.reason} ${isSent ? 'The code is sent.' : 'The code is refused.'}`
    log({ level: 'warn', event: 'phone_check.failed', ...about, detail })
    return isSent ? undefined : refuseUndelivered(undefined)
  }
  if (result === 'ok') {
    log({ level: 'info', event: 'phone_check.passed', ...about })
    return undefined
  }
  log({ level: 'warn', event: 'phone_check.refused', ...about, reason: result })
  return phoneAtRisk(result)
}
