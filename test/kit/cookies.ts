import type { Response } from 'supertest'

/** The session cookie that an answer sets, as a browser would send it back; '' when it sets none. */
export function sessionCookie(response: Response): string {
  const cookie = response.get('Set-Cookie')?.find((line) => line.startsWith('connect.sid='))
  return cookie?.split(';')[0] ?? ''
}

/** The session id in a session cookie. */
export function sessionId(cookie: string): string {
  return /^connect\.sid=s%3A([^.]+)\./.exec(cookie)?.[1] ?? ''
}
