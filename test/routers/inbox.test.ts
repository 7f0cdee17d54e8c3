import request from 'supertest'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { host } from '../kit/host.js'
import { standInService } from '../kit/stand-in-service.js'

const KEY = 'a key; with = odd "signs"'
const MESSAGE = {
  channel: 'email',
  to: 'bob@example.com',
  text: 'Your code is 424242.',
  at: '2026-01-01T00:00:00Z',
}

/** An app whose service has an inbox, and what it logs. */
function withInbox(key: () => Promise<string> = async () => KEY) {
  const info: string[] = []
  const inbox = { messages: async () => [MESSAGE], key }
  const logger = { info: (line: string) => void info.push(line), warn: () => {}, error: () => {} }
  const { app } = host({ options: { service: { ...standInService().service, inbox }, logger } })
  return { app, info }
}

describe('the inbox of development of a given service (R145)', () => {
  it('is closed to every request without its key, from whatever machine', () =>
    everyCase(
      [
        [{}, ''],
        [{ Host: 'localhost' }, ''],
        [{ 'MFA-Inbox-Key': '' }, ''],
        [{ 'MFA-Inbox-Key': `x${KEY}` }, '?key='],
        [{ Cookie: 'mfa_inbox=' }, '?key[]=a'],
        [{ Cookie: `mfa_inbox=${encodeURIComponent(KEY)}` }, '?key=a&key=b'],
        [{ Authorization: `Bearer ${KEY}` }, '?Key=a'],
      ] as const,
      async ([headers, query]) => {
        const asked = request(withInbox().app).get(`/mfa/inbox${query}`)
        const answer = await asked.set({ ...headers, Accept: 'application/json' })
        expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
      },
    ))

  it('opens for the key in the header, and once in the address for a browser, which gets a cookie instead', async () => {
    const { app } = withInbox()
    const answer = await request(app)
      .get('/mfa/inbox')
      .set({ Accept: 'application/json', 'MFA-Inbox-Key': KEY })
    expect(answer.body).toEqual({ messages: [MESSAGE] })
    const browser = request.agent(app).set('Accept', 'text/html')
    const opened = await browser.get(`/mfa/inbox?${new URLSearchParams({ key: KEY })}`).expect(303)
    expect(opened.headers.location).toBe('/mfa/inbox')
    expect(opened.headers['set-cookie']?.[0]).not.toContain('odd')
    expect((await browser.get('/mfa/inbox').expect(200)).text).toContain('Your code is 424242.')
  })

  it('is named in the log with its key, and nowhere if the service does not start', async () => {
    const { info } = withInbox()
    await vi.waitFor(() => expect(info).toHaveLength(1))
    const query = new URLSearchParams({ key: KEY })
    expect(info[0]).toBe(
      `countersign: in development, codes go to an inbox: http://localhost:3000/mfa/inbox?${query}`,
    )
    const failing = withInbox(() => Promise.reject(new Error('no')))
    await request(failing.app).get('/mfa/inbox').set('MFA-Inbox-Key', KEY).expect(500)
    expect(failing.info).toEqual([])
  })

  it('does not exist in production', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    onTestFinished(() => void vi.unstubAllEnvs())
    const { app, info } = withInbox()
    await request(app).get('/mfa/inbox').set('MFA-Inbox-Key', KEY).expect(404)
    expect(info.filter((line) => line.includes('inbox'))).toEqual([])
  })
})
