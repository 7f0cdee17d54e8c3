import { type AnswerToken, findTokens } from './answer-tokens.js'
import type { ProbeAgent } from './probed-app.js'

/** Paths at which apps exchange a refresh token, in the root and beside the login. */
const EXCHANGES =
  'token refresh refresh-token refresh-tokens token/refresh auth/token auth/refresh auth/refresh-tokens api/token api/refresh api/token/refresh oauth/token'

/** Tokens that an app gives for a refresh token of a login, at one of these paths or a usual one; `undefined` for one that no path takes. */
export async function exchangeTokens(
  { field, value }: AnswerToken,
  newAgent: () => ProbeAgent,
  login: string,
  paths: readonly string[] = [],
): Promise<AnswerToken[] | undefined> {
  if (!/refresh/i.test(field)) return []
  const beside = login.replace(/[^/]*$/, '')
  const usual = ['/', beside].flatMap((base) => EXCHANGES.split(' ').map((path) => base + path))
  const names = ['refreshToken', 'refresh_token', 'refresh', 'token']
  const fields = { grant_type: 'refresh_token', ...Object.fromEntries(names.map((name) => [name, value])) }
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${value}` }
  const sent = { method: 'POST', headers, body: JSON.stringify(fields) }
  for (const path of new Set([...paths, ...usual])) {
    const answer = await newAgent()(path, sent).catch(() => undefined)
    const text = answer?.ok ? await answer.text() : ''
    const tokens = findTokens(text).filter((token) => token.value !== value)
    if (tokens.length > 0) return tokens.map((token) => ({ ...token, field: `${field} at ${path}` }))
  }
  return undefined
}
