import { describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { TOKEN_CALLBACKS } from './callbacks.js'
import { tokenClient, tokenHost } from './kit.js'

const FAILURES = {
  throws: () => {
    throw new Error('host')
  },
  rejects: () => Promise.reject(new Error('host')),
}

/** Signs bob in, calls a guarded route and ends his tokens. Returns the status of each answer. */
async function useTokens({ app, standIn }: ReturnType<typeof tokenHost>) {
  const { body } = await tokenClient(app).post('/auth/login').send({ name: 'bob' })
  const pending = tokenClient(app, { login: body.login })
  const state = await pending.get('/mfa')
  const sent = await pending.post('/mfa/challenge').send({ factor: 'sms' })
  const verified = await pending
    .post('/mfa/verify')
    .send({ code: sent.status === 200 ? standIn.newestCode() : '000000' })
  const client = tokenClient(app, { access: verified.body.access ?? 'none' })
  const guarded = await client.post('/api/transfer')
  const account = await client.get('/mfa')
  const ended = await client.post('/api/password')
  const statuses = [state, sent, verified, guarded, account, ended].map(({ status }) => status)
  return { statuses, hasToken: verified.body.access !== undefined }
}

describe('a failing callback of the option tokens (R99)', () => {
  it('ends no process, and gives no token where it decides about one', () =>
    everyCase(TOKEN_CALLBACKS, (name) =>
      everyCase(Object.keys(FAILURES) as (keyof typeof FAILURES)[], async (failure) => {
        const unhandled: unknown[] = []
        const listen = (reason: unknown) => void unhandled.push(reason)
        process.on('unhandledRejection', listen)
        const made = tokenHost({ tokens: { [name]: FAILURES[failure] } })
        const { statuses, hasToken } = await useTokens(made)
        await new Promise((resolve) => setImmediate(resolve))
        process.off('unhandledRejection', listen)
        expect(unhandled).toEqual([])
        expect(hasToken).toBe(['authenticate', 'onEnded'].includes(name))
        // The end of tokens is not undone because the host could not be told.
        if (name === 'onEnded') expect(statuses).toEqual([200, 200, 200, 200, 200, 200])
        else expect(statuses.some((status) => status >= 500)).toBe(true)
      }),
    ))
})
