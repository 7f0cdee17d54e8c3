import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { operator, postgresStore } from '../../service/dist/parts.js'

const PASSWORD = 'seven quiet otters float'

/**
 * Signs an administrator up at the console of a service: invitation, password and authenticator app. Returns `get`, which
 * requests a page under this session, and `post`, which posts a form; both resolve to `{ status, text, location }`.
 */
export async function signUp(url, databaseUrl) {
  const email = `${randomBytes(6).toString('hex')}@example.com`
  const store = postgresStore(databaseUrl)
  const { token } = await operator(store, 'bench').inviteOperator({ email, role: 'admin' })
  await store.close()
  const cookies = new Map()
  const request = async (path, options = {}) => {
    const response = await fetch(new URL(path, url), {
      ...options,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
        cookie: [...cookies].map((pair) => pair.join('=')).join('; '),
        ...options.headers,
      },
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [name, value] = cookie.split(';')[0].split('=')
      cookies.set(name, value)
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      text: await response.text(),
    }
  }
  const post = (path, fields) => request(path, { method: 'POST', body: new URLSearchParams(fields) })
  await post(`/console/invitation/${token}`, { password: PASSWORD, again: PASSWORD })
  await post('/console/sign-in', { email, password: PASSWORD })
  const enrolled = await request('/console/mfa/enroll-app', {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: '{}',
  })
  const { secret } = JSON.parse(enrolled.text)
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
  await post('/console/mfa/enroll-app/confirm', { code })
  return { get: (path) => request(path), post }
}
