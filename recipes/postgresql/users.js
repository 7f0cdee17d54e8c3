import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { pool } from './pool.js'

const hashOf = (password, salt) => promisify(scrypt)(password, salt, 32)

/** Creates the table of users, with bob as its first user, whose password is "a good password". */
export async function createTables() {
  await pool.query(`
    CREATE TABLE IF NOT EXISTS app_user (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      username text NOT NULL UNIQUE,
      email text NOT NULL UNIQUE,
      recorded_factors jsonb,
      password_version integer NOT NULL DEFAULT 1,
      salt bytea NOT NULL,
      hash bytea NOT NULL
    )`)
  const salt = randomBytes(16)
  await pool.query(
    'INSERT INTO app_user (username, email, salt, hash) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
    ['bob', 'bob@example.com', salt, await hashOf('a good password', salt)],
  )
}

const COLUMNS =
  'id, username, email, recorded_factors AS "recordedFactors", password_version AS "passwordVersion"'

export async function findById(id) {
  const { rows } = await pool.query(`SELECT ${COLUMNS} FROM app_user WHERE id = $1`, [id])
  return rows[0]
}

/** The user with this name and password. */
export async function findByPassword(username, password) {
  const { rows } = await pool.query(`SELECT ${COLUMNS}, salt, hash FROM app_user WHERE username = $1`, [
    username,
  ])
  const [found] = rows
  if (!found) return undefined
  const { salt, hash, ...user } = found
  return timingSafeEqual(await hashOf(password, salt), hash) ? user : undefined
}

/** Saves which factors the MFA service keeps for the user. */
export async function recordFactors({ id }, factors) {
  await pool.query('UPDATE app_user SET recorded_factors = $2 WHERE id = $1', [id, factors])
}
