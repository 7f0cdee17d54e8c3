import type { Database } from './database.js'
import { type Passwords, scryptPasswords } from './passwords.js'

/** A method that delivers codes, as a second factor of a user. For what the MFA service keeps, see `KeptFactors`. */
type DeliveredFactor = 'email' | 'sms' | 'whatsapp' | 'call' | 'dual'

/** Which factors the MFA service keeps for a user, as countersign reported last. A new user has none. */
interface KeptFactors {
  readonly app: boolean
  readonly keys: boolean
  readonly backupCodes: boolean
}

/** A user of Vault. */
export interface VaultUser {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly phone: string | null
  readonly methods: readonly DeliveredFactor[]
  readonly kept: KeptFactors
  /** Increases with every change of password; a session with a lower one is void. */
  readonly passwordVersion: number
  /** The evidence of the identity provider, while it signs the user in. */
  readonly evidence?: {
    readonly issuer: string
    readonly amr: readonly string[] | undefined
    /** In seconds since 1970. */
    readonly authTime: number | undefined
  }
}

/** The data of a new user. */
export interface NewUser {
  readonly username: string
  readonly name: string
  readonly email: string
  readonly phone: string | null
  readonly methods: readonly DeliveredFactor[]
  readonly password: string
  readonly balance: number
}

/** Vault's own table of users. */
export interface Users {
  /** The user with that id, if there is one. */
  find(id: number): Promise<VaultUser | undefined>
  /** The user with that name, if there is one. */
  findByName(username: string): Promise<VaultUser | undefined>
  /** The user, if the password is correct. An unknown name takes as long as a wrong password. */
  signIn(username: string, password: string): Promise<VaultUser | undefined>
  /** Adds a user. `undefined` if the name is taken. */
  add(user: NewUser): Promise<VaultUser | undefined>
  /** Replaces the password and ends all sessions that the old one started. */
  changePassword(id: number, password: string): Promise<VaultUser>
  /** Remembers which factors the MFA service keeps for the user. */
  recordFactors(id: number, kept: Partial<KeptFactors>): Promise<void>
  /** Removes second factors by their methods; `app` is the authenticator app. */
  endFactors(id: number, methods: readonly string[]): Promise<void>
  /** Replaces the phone number, which then receives text messages as a second factor. */
  changePhone(id: number, phone: string): Promise<void>
  /** The number of users. */
  count(): Promise<number>
}

const COLUMNS = `id, username, name, email, phone, methods, password_version AS "passwordVersion",
  json_build_object('app', has_app, 'keys', has_keys, 'backupCodes', has_backup_codes) AS kept`

/** The users in a database with Vault's tables. */
export function usersIn(db: Database, passwords: Passwords = scryptPasswords()): Users {
  async function one(where: string, params: readonly unknown[]) {
    const { rows } = await db.query<VaultUser>(`SELECT ${COLUMNS} FROM vault_users WHERE ${where}`, params)
    return rows[0]
  }

  return {
    find: (id) => one('id = $1', [id]),
    findByName: (username) => one('username = $1', [canonicalName(username)]),

    async signIn(username, password) {
      const { rows } = await db.query<{ id: number; password: string }>(
        'SELECT id, password FROM vault_users WHERE username = $1',
        [canonicalName(username)],
      )
      const matches = await passwords.matches(password, rows[0]?.password)
      return matches && rows[0] ? one('id = $1', [rows[0].id]) : undefined
    },

    async add(user) {
      const { rows } = await db.query<VaultUser>(
        `INSERT INTO vault_users (username, name, email, phone, methods, password, balance)
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (username) DO NOTHING RETURNING ${COLUMNS}`,
        [
          canonicalName(user.username),
          user.name,
          user.email,
          user.phone,
          user.methods,
          await passwords.hash(user.password),
          user.balance,
        ],
      )
      return rows[0]
    },

    async changePassword(id, password) {
      const { rows } = await db.query<VaultUser>(
        `UPDATE vault_users SET password = $2, password_version = password_version + 1
         WHERE id = $1 RETURNING ${COLUMNS}`,
        [id, await passwords.hash(password)],
      )
      const user = rows[0]
      if (!user) throw new Error(`There is no user with the id ${id} whose password could be changed.`)
      return user
    },

    async recordFactors(id, { app, keys, backupCodes }) {
      await db.query(
        `UPDATE vault_users SET has_app = COALESCE($2, has_app), has_keys = COALESCE($3, has_keys),
           has_backup_codes = COALESCE($4, has_backup_codes)
         WHERE id = $1`,
        [id, app, keys, backupCodes],
      )
    },

    async endFactors(id, methods) {
      await db.query(
        `UPDATE vault_users SET
           has_app = has_app AND 'app' <> ALL($2::text[]),
           methods = ARRAY(SELECT method FROM unnest(methods) AS method WHERE method <> ALL($2::text[]))
         WHERE id = $1`,
        [id, methods],
      )
    },

    async changePhone(id, phone) {
      await db.query(
        `UPDATE vault_users SET phone = $2,
           methods = CASE WHEN methods && '{sms}' THEN methods ELSE array_append(methods, 'sms') END
         WHERE id = $1`,
        [id, phone],
      )
    },

    async count() {
      const { rows } = await db.query<{ count: number }>('SELECT count(*)::int AS count FROM vault_users')
      return rows[0]?.count ?? 0
    },
  }
}

function canonicalName(username: string): string {
  return username.normalize('NFKC').trim().toLowerCase()
}
