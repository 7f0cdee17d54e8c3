import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { listen, stopClock } from '../kit.js'
import { decoded, openConsole, post, read, type SignedIn, type TestConsole, textOf, typeCode } from './kit.js'

const PATH = '/console/applications/default'

let console: TestConsole
let gateway: Awaited<ReturnType<typeof listen>>
let [support, viewer]: SignedIn[] = []
beforeAll(async () => {
  stopClock()
  gateway = await listen((_request, response) => {
    response.writeHead(503, { 'Retry-After': '120' }).end()
  })
  console = await openConsole(
    {},
    { delivery: { sms: `${gateway.url}/deliver`, email: 'inbox' }, limits: { failuresBeforeLock: 5 } },
  )
  support = await console.signUp('support')
  viewer = await console.signUp('viewer')
})
afterAll(async () => {
  vi.useRealTimers()
  await console.service.close()
  await gateway.close()
})
const browserOf = (person: SignedIn | undefined) => {
  if (!person) throw new Error('Nobody signed in.')
  return person.browser
}
/** The fields of the form with this button. */
const fieldsBefore = (page: string, button: string) => {
  const [, form = ''] =
    new RegExp(`<form[^>]*>((?:(?!</form>)[^])*)<button[^>]*>${button}</button>`).exec(page) ?? []
  return Object.fromEntries(
    [...form.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      decoded(value),
    ]),
  )
}

test('locked users are counted, listed with masked contacts, and unlocked together by who may', async () => {
  const { mfa } = console.service
  for (const name of ['ann', 'bob']) {
    const contact = { kind: 'email', email: `${name}@example.com` } as const
    await mfa.send({ method: 'email', contact })
    for (let attempt = 0; attempt < 5; attempt++) {
      await mfa.verify({ method: 'email', contact, kind: 'code', code: 'XXXXXX' })
    }
  }
  const seen = await read(browserOf(viewer), `${PATH}/locked`)
  expect(seen).toContain('Locked now: 2.')
  expect(seen).not.toContain('Unlock')
  const { text } = await browserOf(support).get(`${PATH}/locked`).expect(200)
  expect(text).not.toContain('ann@example.com')
  expect(textOf(text)).toContain('Unlock 2 users')
  const fields = fieldsBefore(text, 'Unlock 2 users')
  await post(browserOf(viewer), `${PATH}/locked/unlock`, fields).expect(403)
  if (support) await typeCode(support)
  const done = await post(browserOf(support), `${PATH}/locked/unlock`, fields).expect(200)
  expect(textOf(done.text)).toMatch(/2 users are unlocked. .* Locked now: 0. .* No user is locked./)
  await post(browserOf(support), `${PATH}/locked/unlock`, fields).expect(422)
  expect(await read(browserOf(support), `${PATH}/locked?mode=test`)).toContain('Locked now: 0.')
})

test('messages that wait are sent together, by what is filtered', async () => {
  const { mfa } = console.service
  for (let user = 0; user < 5; user++) {
    await mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+44740010000${user}` } })
  }
  const button = 'Send all that wait for another attempt'
  const { text } = await browserOf(support).get(`${PATH}/messages?channel=sms`).expect(200)
  expect(await read(browserOf(viewer), `${PATH}/messages?channel=sms`)).not.toContain(button)
  expect(await read(browserOf(support), `${PATH}/messages?channel=email`)).not.toContain(button)
  const sent = await post(browserOf(support), `${PATH}/messages/retry`, fieldsBefore(text, button)).expect(
    200,
  )
  expect(textOf(sent.text)).toMatch(/[1-5] messages? (are|is) sent within seconds\./)
})
