import { canonicalUser, maskContact } from 'countersign/protocol'
import { mustExist } from './applications.js'
import type { Actor } from './audited-change.js'
import { changeRows } from './change-rows.js'

const MAX_LISTED = 200

/** A mailbox that gets no more mail of an application, because its owner reported one as spam. */
export interface MailComplaint {
  /** The mailbox, masked. */
  readonly mailbox: string
  /** When it was reported, in milliseconds since 1970. */
  readonly complainedAt: number
}

/** Lists the mailboxes whose owners reported a message as spam, the latest first. */
export async function listComplaints({ store }: Actor, application: string): Promise<MailComplaint[]> {
  await mustExist(store, application)
  const rows = await store.query<{ email: string; complained_at: number }>(
    `SELECT email, complained_at FROM mail_complaint WHERE application = $1
     ORDER BY complained_at DESC, email LIMIT ${MAX_LISTED}`,
    [application],
  )
  return rows.map(({ email, complained_at }) => ({ mailbox: maskEmail(email), complainedAt: complained_at }))
}

/** Removes the complaint of a mailbox, so that it gets messages again. */
export async function liftComplaint(actor: Actor, application: string, mailbox: string): Promise<void> {
  const email = canonicalUser({ kind: 'email', email: mailbox })
  await changeRows(actor, {
    ...{ application, action: 'mail.allowed', detail: maskEmail(email) },
    sql: 'DELETE FROM mail_complaint WHERE application = $1 AND email = $2 RETURNING email',
    values: [application, email],
    otherwise: `No complaint of this mailbox about "${application}" is stored: complaint list ${application} lists them.`,
  })
}

function maskEmail(email: string): string {
  return maskContact({ kind: 'email', email })
}
