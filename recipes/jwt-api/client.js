/*
 * The network layer of a mobile app, with nothing but `fetch`. It keeps two tokens and no cookie. On a phone, keep the refresh token in the
 * keychain.
 */

/** A request that the API refused. */
export class ApiError extends Error {
  constructor({ code }, status) {
    super(`The API refused the request: ${status} ${code}.`)
    this.code = code
    this.status = status
  }
}

/** `askCode` shows a field for the code of a challenge, and resolves to what the user typed. */
export function apiClient(baseUrl, askCode) {
  let accessToken
  let refreshToken

  async function send(path, body, login) {
    const answer = await fetch(new URL(path, baseUrl), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        ...(accessToken && { authorization: `Bearer ${accessToken}` }),
        ...(login && { 'mfa-login': login }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    // passport-jwt answers an expired token in plain text.
    const said = await answer.json().catch(() => ({ code: 'token_expired' }))
    if (answer.ok) return said
    if (['mfa_required', 'step_up_required'].includes(said.code)) return showFactor(said, path, body)
    throw new ApiError(said, answer.status)
  }

  /** Shows the first factor, and keeps the tokens of the answer. A step-up repeats the request. */
  async function showFactor({ code, login, factors: [factor] }, path, body) {
    const challenge = await send('/mfa/challenge', { factor: factor.id }, login)
    const typed = await askCode(challenge)
    const tokens = await send('/mfa/verify', { factor: factor.id, code: typed }, challenge.login ?? login)
    keep(tokens)
    return code === 'step_up_required' ? send(path, body) : tokens
  }

  function keep(tokens) {
    accessToken = tokens.accessToken
    refreshToken = tokens.refreshToken ?? refreshToken
  }

  async function refresh() {
    accessToken = undefined
    keep(await send('/auth/refresh', { refreshToken }))
  }

  return {
    signIn: async (username, password) => keep(await send('/auth/login', { username, password })),
    refresh,
    /** Sends a request, and once more with a new access token if the old one has expired. */
    async request(path, body) {
      try {
        return await send(path, body)
      } catch (error) {
        if (error.code !== 'token_expired' || !refreshToken) throw error
        await refresh()
        return send(path, body)
      }
    },
  }
}
