import type { Database } from './database.js'

/** A message to a user about their account: an email, or a text message if `to` is a phone number. */
export interface VaultMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Vault's outgoing messages. A real app would send them from here. */
export interface Messages {
  /** Adds an email. */
  add(message: VaultMessage): Promise<void>
  /** The newest 200 emails, newest first; with `to`, only those to one address. `at` is ISO 8601. */
  list(filter: { to?: string }): Promise<(VaultMessage & { readonly at: string })[]>
}

/** The emails in a database with Vault's tables. */
export function messagesIn(db: Database): Messages {
  return {
    async add({ to, subject, text }) {
      await db.query('INSERT INTO vault_messages (recipient, subject, body, at) VALUES ($1, $2, $3, $4)', [
        to,
        subject,
        text,
        new Date(),
      ])
    },
    async list({ to }) {
      const { rows } = await db.query<{ recipient: string; subject: string; body: string; at: Date }>(
        `SELECT recipient, subject, body, at FROM vault_messages WHERE $1::text IS NULL OR recipient = $1
         ORDER BY id DESC LIMIT 200`,
        [to ?? null],
      )
      return rows.map(({ recipient, subject, body, at }) => ({
        to: recipient,
        subject,
        text: body,
        at: at.toISOString(),
      }))
    },
  }
}
