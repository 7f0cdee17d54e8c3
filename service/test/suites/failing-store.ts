import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { inProcessService } from '../../src/flows/in-process-service.js'
import { apiOver } from '../api-kit.js'
import { API_KEY, type Bench, freshEmail, freshTenant, listen, rejection } from '../kit.js'

export function failingStoreSuite(bench: () => Bench): void {
  const broken = () => ({
    ...bench().context,
    store: {
      ...bench().context.store,
      query: () => Promise.reject(new Error('connection to 10.0.0.7 lost')),
      transaction: () => Promise.reject(new Error('connection to 10.0.0.7 lost')),
    },
  })

  test('makes a verification fail with an error, never with an answer (R77)', async () => {
    const { application } = freshTenant(bench())
    const mfa = inProcessService(broken(), async () => application)
    const contact = freshEmail()
    for (const call of [
      mfa.send({ method: 'email', contact }),
      mfa.verify({ method: 'email', contact, kind: 'code', code: '123456' }),
      mfa.enrollApp({ contact }),
      mfa.sendBackupCodes({ method: 'email', contact }),
    ]) {
      expect(await rejection(call)).toMatchObject({ code: 'ERR_MFA_SERVICE_UNAVAILABLE' })
    }
  })

  test('reveals nothing about the user in the error (R89)', async () => {
    const { mfa } = freshTenant(bench())
    const { store } = bench()
    const contact = freshEmail()
    await mfa.send({ method: 'email', contact: freshEmail() })
    await store.query('ALTER TABLE budget RENAME TO budget_elsewhere')
    const failure = await rejection(mfa.send({ method: 'email', contact })).finally(() =>
      store.query(`ALTER TABLE ${store.schema}.budget_elsewhere RENAME TO budget`),
    )
    const logged = inspect(failure, { depth: null })
    expect(logged).toMatch(/relation "(?:mfa\.)?budget" does not exist/)
    expect(logged).not.toContain(contact.email)
  })

  test('gets a 503 response when the time limit of the request passes, and one response only (R101)', async () => {
    const { application } = freshTenant(bench())
    let release = () => {}
    const held = new Promise<never[]>((resolve) => {
      release = () => resolve([])
    })
    const hanging = { ...bench().context, store: { ...bench().context.store, query: () => held } }
    const server = await listen(apiOver(hanging, application, { requestTimeoutMs: 20 }))
    const response = await fetch(`${server.url}/v1/mfa/verify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: new URLSearchParams({ User: 'a@example.com', Type: 'EMAIL', Code: '123456' }),
    })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await response.json()).toMatchObject({ code: 'unavailable', retry_after: 5 })
    release()
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
    await server.close()
  })

  test('gets a 500 response that reveals no internals (R84)', async () => {
    const { application } = freshTenant(bench())
    const server = await listen(apiOver(broken(), application))
    const response = await fetch(`${server.url}/v1/mfa`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}` },
      body: new URLSearchParams({ User: 'a@example.com', Type: 'EMAIL' }),
    })
    const text = await response.text()
    await server.close()
    expect([response.status, JSON.parse(text).code]).toEqual([500, 'internal_error'])
    expect(text).not.toContain('10.0.0.7')
  })
}
