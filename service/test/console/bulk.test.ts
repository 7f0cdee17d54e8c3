import type { IncomingMessage, ServerResponse } from 'node:http'
import request from 'supertest'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { advance, eventually, listen, stopClock } from '../kit.js'
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

test('messages that wait are counted by what is filtered, and those that were counted are sent together', async () => {
  const { mfa } = console.service
  const sendTo = (user: number) =>
    mfa.send({ method: 'sms', contact: { kind: 'phone', phone: `+44740010000${user}` } })
  const button = (count: number) => `Send ${count} waiting messages now`
  const list = `${PATH}/messages?state=queued&channel=sms`
  for (let user = 0; user < 3; user++) await sendTo(user)
  await eventually(async () => expect(await read(browserOf(support), list)).toContain(button(3)))
  const { text } = await browserOf(support).get(list).expect(200)
  expect(await read(browserOf(viewer), list)).not.toContain('waiting messages')
  expect(await read(browserOf(support), `${PATH}/messages?channel=email`)).not.toContain('waiting messages')
  advance(1)
  await sendTo(3)
  await eventually(async () => expect(await read(browserOf(support), list)).toContain(button(4)))

  const [, action = ''] = /action="([^"]*retry[^"]*)"/.exec(text) ?? []
  const sent = await post(browserOf(support), decoded(action), fieldsBefore(text, button(3))).expect(200)
  expect(textOf(sent.text)).toContain('3 messages are sent within seconds.')
  for (const filter of ['queued', 'sms']) expect(sent.text).toContain(`<option selected>${filter}</option>`)
})

test('the address of an action leads back to its page, with what is filtered', async () => {
  const leadsTo = async (path: string) =>
    String(
      (
        await browserOf(support)
          .get(PATH + path)
          .expect(303)
      ).headers.location,
    )
  expect(await leadsTo('/messages/retry?channel=sms')).toBe(`${PATH}/messages?channel=sms`)
  expect(await leadsTo('/locked/unlock?mode=test')).toBe(`${PATH}/locked?mode=test`)
  expect(await leadsTo('/traffic/pause')).toBe(`${PATH}/traffic`)
  expect(await leadsTo('/traffic/pause/')).toBe(`${PATH}/traffic`)
  expect(await leadsTo('/messages/retry/?carrier=a/b')).toBe(`${PATH}/messages?carrier=a/b`)
  await request((asked: IncomingMessage, response: ServerResponse) => {
    asked.url = `http://other.example${PATH}/traffic/pause?a`
    console.service.console?.(asked, response)
  })
    .get('/')
    .expect('location', `${PATH}/traffic?a`)
})
