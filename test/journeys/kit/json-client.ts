/** A JSON response. */
export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

/** A client that sends JSON to an app over real sockets, and keeps its cookies. */
export function jsonClient(app: string) {
  const jar = new Map<string, string>()

  const call = async (method: string, path: string, body?: object): Promise<Reply> => {
    const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
    const response = await fetch(app + path, {
      method,
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...(cookie && { cookie }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      jar.set(name, value)
    }
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : undefined }
  }

  const post = (path: string, body: object = {}) => call('POST', path, body)
  return {
    get: (path: string) => call('GET', path),
    post,
    /** Starts a challenge for a factor. */
    challenge: (factor: string) => post('/mfa/challenge', { factor }),
    /** Verifies a code, by default for the challenge in progress. */
    verify: (code: string, factor?: string) => post('/mfa/verify', { code, factor }),
  }
}
