import type { Database } from './database.js'

/** An email of Vault's own, which tells a customer what happened to their account. */
export interface Letter {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Where Vault puts its emails. A real bank would have them collected from here and sent. */
export interface Letters {
  post(letter: Letter): Promise<void>
  /** Newest first, 200 at most; of one mailbox alone when `to` is given. `at` is ISO 8601. */
  posted(filter: { to?: string }): Promise<(Letter & { readonly at: string })[]>
}

/** The letters in a database that has our tables. */
export function lettersIn(db: Database): Letters {
  return {
    async post({ to, subject, text }) {
      await db.query('INSERT INTO vault_letters (recipient, subject, body, at) VALUES ($1, $2, $3, $4)', [
        to,
        subject,
        text,
        new Date(),
      ])
    },
    async posted({ to }) {
      const { rows } = await db.query<{ recipient: string; subject: string; body: string; at: Date }>(
        `SELECT recipient, subject, body, at FROM vault_letters WHERE $1::text IS NULL OR recipient = $1
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
