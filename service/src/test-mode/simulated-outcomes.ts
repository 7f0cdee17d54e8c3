import type { Contact } from 'countersign/protocol'

/** What a test key can have happen by the contact it names. */
export type Staged = 'refused' | 'fail' | 'limit' | 'locked' | 'disabled' | 'queued' | 'expired'

const MAILBOX = /^(refused|fail|limit|locked|disabled|queued|expired)@test\.invalid$/i
const NUMBERS: Readonly<Record<string, Staged>> = {
  '+15005550001': 'refused',
  '+15005550002': 'fail',
  '+15005550003': 'limit',
  '+15005550004': 'locked',
  '+15005550005': 'disabled',
  '+15005550007': 'queued',
  '+15005550008': 'expired',
}

/** What is staged for a mailbox or telephone number; nothing for most. */
export function stagedFor(address: string): Staged | undefined {
  const mailbox = MAILBOX.exec(address)?.[1]?.toLowerCase() as Staged | undefined
  return mailbox ?? NUMBERS[address]
}

/** What is staged for a contact; for DUAL by its mailbox, else by its number. */
export function stagedForContact(contact: Contact): Staged | undefined {
  return (
    (contact.kind === 'phone' ? undefined : stagedFor(contact.email)) ??
    (contact.kind === 'email' ? undefined : stagedFor(contact.phone))
  )
}
