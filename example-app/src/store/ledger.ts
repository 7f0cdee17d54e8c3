import type { Database } from './database.js'

/** A deposit (positive) or a withdrawal (negative), in whole dollars. */
export interface Movement {
  readonly at: Date
  readonly what: string
  readonly amount: number
}

/** The balances and movements of all users. */
export interface Ledger {
  /** The balance in whole dollars. */
  balance(userId: number): Promise<number>
  /** Withdraws an amount. Returns the new balance, or `undefined` if the old one was too small. */
  withdraw(userId: number, amount: number): Promise<number | undefined>
  /** The last movements, newest first. */
  movements(userId: number, limit?: number): Promise<readonly Movement[]>
  /** Adds a past movement without changing the balance. */
  addPast(userId: number, movement: Movement): Promise<void>
}

/** The ledger in a database with Vault's tables. */
export function ledgerIn(db: Database): Ledger {
  return {
    async balance(userId) {
      const { rows } = await db.query<{ balance: number }>('SELECT balance FROM vault_users WHERE id = $1', [
        userId,
      ])
      return rows[0]?.balance ?? 0
    },

    async withdraw(userId, amount) {
      // One statement, so that two withdrawals at once cannot both spend the same money.
      const { rows } = await db.query<{ balance: number }>(
        `WITH paid AS (
           UPDATE vault_users SET balance = balance - $2::int
           WHERE id = $1 AND balance >= $2::int RETURNING id, balance
         ), noted AS (
           INSERT INTO vault_movements (user_id, at, what, amount)
           SELECT id, $3::timestamptz, 'Withdrawal', -$2::int FROM paid
         )
         SELECT balance FROM paid`,
        [userId, amount, new Date(Date.now())],
      )
      return rows[0]?.balance
    },

    async movements(userId, limit = 8) {
      const { rows } = await db.query<Movement>(
        'SELECT at, what, amount FROM vault_movements WHERE user_id = $1 ORDER BY at DESC, id DESC LIMIT $2',
        [userId, limit],
      )
      return rows
    },

    async addPast(userId, { at, what, amount }) {
      await db.query('INSERT INTO vault_movements (user_id, at, what, amount) VALUES ($1, $2, $3, $4)', [
        userId,
        at,
        what,
        amount,
      ])
    },
  }
}
