import notp from 'notp'
import { Secret, TOTP } from 'otpauth'
import { findUser } from '../apps/users.mjs'
import { browsersOf, LOGIN, newUserIds, requestFrom, sendFromAll, VERIFY_APP } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { expectText } from '../kit/load.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'The code of an authenticator app, beside passport-totp and better-auth'
export const meaning = `Three ways to check the code of an authenticator app. Countersign signs a pending login in: it asks a service, counts and
makes a new session. passport-totp checks the code itself, accepts the same code again, counts nothing, and has Passport make
a new session. better-auth checks it itself in a session that is signed in, decrypts the secret, and makes no new session; it
does so with its store in memory, with its rate limit and log off.`

const TWO_FACTOR = '/api/auth/two-factor'
const PASSWORD = 'a password'

export async function run(bench) {
  return compare(bench, {
    what: 'verify of an app code',
    sides: [
      async (name = 'countersign') =>
        signInStep({
          name,
          app: await bench.start('countersign'),
          before: [LOGIN],
          step: VERIFY_APP,
          answer: '"verified"',
        }),
      async () =>
        signInStep({
          name: 'passport-totp, which asks no service',
          app: await bench.start('passport-totp'),
          before: [LOGIN],
          step: ({ userId }) => ({
            method: 'POST',
            path: '/mfa/verify',
            // By its own library, which omits the zeros of a code whose number before the remainder is below 100,000.
            body: { code: notp.totp.gen(findUser(userId).totpKey) },
          }),
          answer: '"verified"',
        }),
      async () => signedInToBetterAuth(await bench.start('better-auth')),
    ],
  })
}

/** Users who are signed in and give their code again: better-auth then makes no new session and counts nothing. */
async function signedInToBetterAuth(app) {
  const browsers = browsersOf(app, newUserIds(32))
  await sendFromAll(app, browsers, ({ userId }) => ({
    method: 'POST',
    path: '/api/auth/sign-up/email',
    body: { name: userId, email: `${userId}@example.com`, password: PASSWORD },
  }))
  const enabled = await sendFromAll(app, browsers, () => ({
    method: 'POST',
    path: `${TWO_FACTOR}/enable`,
    body: { password: PASSWORD },
  }))
  enabled.forEach(({ body }, i) => {
    browsers[i].secret = Secret.fromBase32(new URL(JSON.parse(body).totpURI).searchParams.get('secret'))
  })
  const verify = ({ secret }) => ({
    method: 'POST',
    path: `${TWO_FACTOR}/verify-totp`,
    body: { code: codeNow(secret) },
  })
  // The first right code confirms the app and changes the session.
  await sendFromAll(app, browsers, verify)
  return {
    name: 'better-auth TOTP, memory adapter, signed in',
    app,
    requests() {
      const messages = browsers.map((browser) => requestFrom(browser, verify(browser)))
      return Array.from({ length: 120 }, (_, i) => messages[i % messages.length])
    },
    check: expectText('"token"'),
  }
}

function codeNow(secret) {
  return new TOTP({ secret }).generate()
}
