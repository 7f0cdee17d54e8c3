import { maskContact } from 'countersign/protocol'
import { queryOne } from '../store/store.js'
import { mustExist } from './applications.js'
import { type Actor, auditedChange, OperatorError } from './audited-change.js'

const MAX_LISTED = 200

/** A mailbox that gets no more mail of an application, because its owner reported one as spam. */
export interface MailComplaint {
  /** The mailbox, masked. */
  readonly mailbox: string
  /** When it was reported, in milliseconds since 1970. */
  readonly complainedAt: number
}

/** The latest mailboxes whose owner reported a mail of an application as spam, at most 200. */
export async function listComplaints({ store }: Actor, application: string): Promise<MailComplaint[]> {
  await mustExist(store, application)
  const rows = await store.query<{ email: string; complained_at: number }>(
    `SELECT email, complained_at FROM mail_complaint WHERE application = $1
     ORDER BY complained_at DESC, email LIMIT ${MAX_LISTED}`,
    [application],
  )
  return rows.map(({ email, complained_at }) => ({ mailbox: masked(email), complainedAt: complained_at }))
}

/** Lets a mailbox get mail of an application again. */
export async function liftComplaint(actor: Actor, application: string, mailbox: string): Promise<void> {
  const email = mailbox.toLowerCase()
  await auditedChange(
    actor,
    async (tx) => {
      await mustExist(tx, application)
      const row = await queryOne(
        tx,
        'DELETE FROM mail_complaint WHERE application = $1 AND email = $2 RETURNING email',
        [application, email],
      )
      if (row) return
      throw new OperatorError(
        `No complaint of this mailbox about "${application}" is stored: complaint list ${application} lists them.`,
      )
    },
    () => ({ application, action: 'mail.allowed', detail: masked(email) }),
  )
}

function masked(email: string): string {
  return maskContact({ kind: 'email', email })
}
