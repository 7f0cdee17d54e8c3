import { appCode } from './app-code.js'
import { SEED_USERS } from './seed-users.js'
import type { AppSecrets } from './store/app-secrets.js'
import type { AppCode } from './views/inbox-page.js'

const PERIOD_MS = 30_000

/** The documented secrets of the seed users' apps. With an external service the apps may have other ones. */
export const SEED_APP_SECRETS: AppSecrets = Object.fromEntries(
  SEED_USERS.flatMap(({ username, appSecret }) => (appSecret === undefined ? [] : [[username, appSecret]])),
)

/** The code that a seed user's authenticator app shows at a time; `undefined` for a user without an app. */
export function seedAppCode(username: string, at: number): string | undefined {
  const secret = SEED_APP_SECRETS[username]
  return secret === undefined ? undefined : appCode(secret, at)
}

/** The codes that authenticator apps with these secrets show now. */
export function seedAppCodes(secrets: AppSecrets = SEED_APP_SECRETS): AppCode[] {
  const now = Date.now()
  const secondsLeft = Math.ceil((PERIOD_MS - (now % PERIOD_MS)) / 1_000)
  return Object.entries(secrets).map(([username, secret]) => ({
    username,
    code: appCode(secret, now),
    secondsLeft,
  }))
}
