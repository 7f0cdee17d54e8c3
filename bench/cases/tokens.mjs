import { browsersOf, CHALLENGE, newUserIds, requestFrom, sendFromAll, VERIFY } from '../kit/browsers.mjs'
import { compare } from '../kit/comparison.mjs'
import { signInStep } from './sign-in-step.mjs'

export const title = 'A login with tokens beside one with a session, everything in memory'
export const meaning = `The same app signs users in with a session or with a reference and a token, which it signs by HMAC. A session is a signed
cookie and a store that is read and written; a reference is hashed, and what is under way is in a store, beside the places of open logins and
the ends of tokens. Both answer the first factor with the factors, by startMfa or tokens.begin, and go through the same limits.`

const A_SESSION = 'with a session'

const BEGIN = ({ userId }) => ({ method: 'POST', path: '/auth/login', body: { id: userId } })
const START = ({ userId }) => ({ method: 'POST', path: '/auth/session', body: { id: userId } })

/** A message with the reference of the client. */
const withReference = (message) => (client) => ({
  ...message(client),
  headers: { 'MFA-Login': client.reference },
})

/** A check that a login is pending. */
function expectReference({ status, body }) {
  if (status !== 401 || !body.includes('"login"')) {
    throw new Error(`Expected status 401 with a reference, got ${status}: ${body.slice(0, 300)}`)
  }
}

/** Clients that have a reference and were sent a code. */
async function pendingClients(app, count = 120) {
  const clients = browsersOf(app, newUserIds(count))
  const begun = await sendFromAll(app, clients, BEGIN, expectReference)
  begun.forEach(({ body }, i) => {
    clients[i].reference = JSON.parse(body).login
  })
  await sendFromAll(app, clients, withReference(CHALLENGE))
  return clients
}

export async function run(bench) {
  const options = { env: { TOKENS: 'yes' } }
  const start = () => bench.start('countersign', options)
  const begin = async (name = 'with a reference') => ({
    ...signInStep({ name, app: await start(), before: [], step: BEGIN, answer: '' }),
    check: expectReference,
  })
  const verify = async (name = 'with a reference') => {
    const app = await start()
    return {
      ...signInStep({ name, app, answer: '"accessToken"' }),
      requests: async () => {
        const clients = await pendingClients(app)
        return clients.map((client) => requestFrom(client, withReference(VERIFY)(client)))
      },
    }
  }
  const session = (before, step, answer) => async () =>
    signInStep({ name: A_SESSION, app: await start(), before, step, answer })
  return [
    ...(await compare(bench, {
      what: 'the first factor, pending',
      sides: [begin, session([], START, '"factors"')],
      targets: { [A_SESSION]: 0.95 },
    })),
    ...(await compare(bench, {
      what: '`POST /mfa/verify` with a reference, a right code',
      sides: [verify, session([START, CHALLENGE], VERIFY, '"verified"')],
      targets: { [A_SESSION]: 0.95 },
    })),
  ]
}
