/** The session cookie that a response sets, as a browser would send it back; '' if it sets none. */
export function sessionCookie({ headers }: { readonly headers: object }, name = 'connect.sid'): string {
  const lines: string[] = [Reflect.get(headers, 'set-cookie') ?? []].flat()
  const cookie = lines.find((line) => line.startsWith(`${name}=`))
  return cookie?.split(';')[0] ?? ''
}

/** The session id in a session cookie. */
export function sessionId(cookie: string): string {
  return /^connect\.sid=s%3A([^.]+)\./.exec(cookie)?.[1] ?? ''
}
