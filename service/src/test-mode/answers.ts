import type { Contact, Refused, VerifyAnswer } from 'countersign/protocol'
import type { Application } from '../application.js'
import { contactRefused, factorDisabled, limited, locked } from '../refusals.js'
import { stagedForContact } from './simulated-outcomes.js'

const WAIT_SECONDS = 600

/** The refusal that a test key asked for by the contact it named; nothing for live keys and other contacts. */
export function stagedRefusal(application: Application, contact: Contact): Refused | undefined {
  if (application.mode !== 'test') return undefined
  const staged = stagedForContact(contact)
  if (staged === 'refused') return contactRefused
  if (staged === 'limit') return limited(WAIT_SECONDS)
  if (staged === 'locked') return locked(WAIT_SECONDS)
  return staged === 'disabled' ? factorDisabled : undefined
}

/** The same for a code that is checked: a limit on messages does not stop it, and an expired code is never right. */
export function stagedVerdict(application: Application, contact: Contact): VerifyAnswer | undefined {
  if (application.mode !== 'test') return undefined
  const staged = stagedForContact(contact)
  if (staged === 'expired') return { outcome: 'invalid' }
  return staged === 'locked' || staged === 'disabled' ? stagedRefusal(application, contact) : undefined
}
