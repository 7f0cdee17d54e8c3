import { TOTP } from 'otpauth'
import { SEED_USERS } from './seed-users.js'
import type { AppCode } from './views/inbox-page.js'

const PERIOD_MS = 30_000

/** The code that a seeded customer's authenticator app shows at a moment; `undefined` for somebody without one. */
export function seedAppCode(username: string, at: number): string | undefined {
  const secret = SEED_USERS.find((person) => person.username === username)?.appSecret
  return secret === undefined ? undefined : new TOTP({ secret }).generate({ timestamp: at })
}

/** What the authenticator apps of all seeded customers show now. */
export function seedAppCodes(): AppCode[] {
  const now = Date.now()
  const secondsLeft = Math.ceil((PERIOD_MS - (now % PERIOD_MS)) / 1_000)
  return SEED_USERS.flatMap(({ username }) => {
    const code = seedAppCode(username, now)
    return code === undefined ? [] : [{ username, code, secondsLeft }]
  })
}
