import { requestBytes } from './http-client.mjs'
import { expectOk, load } from './load.mjs'

/** The code that the stub service accepts. */
export const RIGHT_CODE = '123456'

export const HTML = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

/** New browsers without cookies, one for each user id. */
export function browsersOf(app, userIds) {
  return userIds.map((userId) => ({ userId, port: app.port, cookies: new Map() }))
}

/** The bytes of a request with the browser's cookies. */
export function requestFrom({ port, cookies }, message) {
  return requestBytes(port, { ...message, cookie: cookieHeader(cookies) })
}

/** Sends one request from each browser, `message(browser)`, and keeps the cookies that come back. */
export async function sendFromAll(app, browsers, message, check = expectOk) {
  const requests = browsers.map((browser) => requestFrom(browser, message(browser)))
  const { responses } = await load({ port: app.port, requests, check })
  responses.forEach((response, i) => {
    keepCookies(browsers[i].cookies, response)
  })
  return responses
}

/** The messages of a sign-in, which every app of the benchmarks understands. */
export const LOGIN = ({ userId }) => ({ method: 'POST', path: '/login', body: { id: userId } })
export const CHALLENGE = () => ({ method: 'POST', path: '/mfa/challenge', body: { factor: 'sms' } })
export const VERIFY = () => ({ method: 'POST', path: '/mfa/verify', body: { code: RIGHT_CODE } })
export const VERIFY_APP = () => ({
  method: 'POST',
  path: '/mfa/verify',
  body: { code: RIGHT_CODE, factor: 'app' },
})

let signedUp = 0

/** Ids of users that no earlier request was about, so that no limit on an account is met. */
export function newUserIds(count, prefix = 'u') {
  return Array.from({ length: count }, () => `${prefix}${signedUp++}`)
}

/** Browsers of new users that have gone through these steps of a sign-in. */
export async function browsersAfter(app, count, steps, prefix) {
  const browsers = browsersOf(app, newUserIds(count, prefix))
  for (const step of steps) await sendFromAll(app, browsers, step)
  return browsers
}

/** Puts the cookies that a response sets into the browser's, and takes out those that it ends. */
export function keepCookies(cookies, { head }) {
  for (const [, name, value, attributes] of head.matchAll(/\r\nset-cookie: ([^=\r]+)=([^;\r]*)([^\r]*)/gi)) {
    if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(attributes)) cookies.delete(name)
    else cookies.set(name, value)
  }
}

function cookieHeader(cookies) {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}
