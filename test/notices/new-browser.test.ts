import { afterEach, describe, expect, it, vi } from 'vitest'
import { type AccountNotice, createMfa, type ItemStore, type MfaOptions } from '../../src/index.js'
import { DAY, MINUTE, stopClock } from '../kit/clock.js'
import { type Host, host, jsonAgent, type TestUser } from '../kit/host.js'
import { challenge, login, verify } from '../kit/sign-in.js'

afterEach(() => {
  vi.useRealTimers()
})

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0'

function noticing(options: Partial<MfaOptions<TestUser>> = {}) {
  const notices: AccountNotice[] = []
  const errors: unknown[] = []
  const made = host({
    options: {
      urls: options.urls ?? { publicUrl: 'https://app.example' },
      logger: { warn: () => {}, error: (...said) => void errors.push(said) },
      notices: {
        newBrowser: true,
        store: 'memory',
        onNotice: (_user, notice) => void notices.push(notice),
        ...options.notices,
      },
    },
  })
  return { ...made, notices, errors }
}

async function signInWith(
  { standIn }: Pick<Host, 'standIn'>,
  agent: ReturnType<typeof jsonAgent>,
  name = 'bob',
) {
  agent.set('User-Agent', FIREFOX)
  await login(agent, name).expect(200)
  await challenge(agent, 'sms').expect(200)
  return verify(agent, standIn.newestCode()).expect(200)
}

/** The store does its work after the response at the next turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a notice of a sign-in in a new browser', () => {
  it('is written for each browser but the first, once, with a “this wasn’t me” link', async () => {
    const clock = stopClock()
    const made = noticing()
    const [first, second] = [jsonAgent(made.app), jsonAgent(made.app)]
    for (const agent of [first, first, second, second, first]) {
      await signInWith(made, agent)
      clock.move(MINUTE)
    }
    await settled()
    expect(made.notices).toMatchObject([{ type: 'new_browser', browser: 'Firefox on Windows' }])
    expect(made.notices[0]?.text).toContain('in a browser that was not used for it before')
    expect(made.notices[0]?.text).toContain('https://app.example/mfa/not-me?token=')
  })

  it('is not written for the password alone, and is for another user of the same browser only by what they used', async () => {
    const made = noticing()
    const agent = jsonAgent(made.app)
    await signInWith(made, agent)
    await login(jsonAgent(made.app), 'bob').expect(200)
    await signInWith(made, agent, 'alice')
    await settled()
    expect(made.notices).toEqual([])
    await signInWith(made, jsonAgent(made.app), 'alice')
    await settled()
    expect(made.notices).toMatchObject([{ type: 'new_browser' }])
  })

  it('is written for a user who signs in without a factor, too', async () => {
    const made = noticing()
    for (const agent of [jsonAgent(made.app), jsonAgent(made.app)]) await login(agent, 'nina').expect(200)
    await settled()
    expect(made.notices).toMatchObject([{ type: 'new_browser' }])
  })

  it('names the browser by a text that nobody can guess, of which the store has a hash', async () => {
    const kept: string[] = []
    const items = new Map<string, Map<string, { id: string; value: string; expiresAt: number }>>()
    const of = (owner: string) => items.get(owner) ?? items.set(owner, new Map()).get(owner) ?? new Map()
    const store: ItemStore = {
      read: async (owner) => [...of(owner).values()],
      add: async (owner, item) => {
        kept.push(JSON.stringify([owner, item]))
        of(owner).set(item.id, item)
        return true
      },
      put: async (owner, item) => void of(owner).set(item.id, item),
      swap: async () => false,
      remove: async (owner, id) => of(owner).delete(id),
    }
    const made = noticing({ notices: { newBrowser: true, store } })
    const agents = Array.from({ length: 22 }, () => jsonAgent(made.app))
    for (const agent of agents) await login(agent, 'nina').expect(200)
    const { headers } = await login(jsonAgent(made.app), 'nina').expect(200)
    await settled()
    const cookie = [headers['set-cookie']]
      .flat()
      .join('\n')
      .match(/^mfa_browser=([\w-]+);.*$/m)
    expect(cookie?.[1]).toMatch(/^[\w-]{43}$/)
    expect(cookie?.[0]).toMatch(/HttpOnly/)
    expect(cookie?.[0]).toMatch(/SameSite=Lax/)
    expect(kept.join()).not.toContain(cookie?.[1] ?? '?')
    expect(of('browsers:u-nin').size).toBe(20)
  })

  it('is written again after a year without a sign-in in the browser', async () => {
    const clock = stopClock()
    const made = noticing()
    const [first, second] = [jsonAgent(made.app), jsonAgent(made.app)]
    for (const agent of [first, second]) await login(agent, 'nina').expect(200)
    clock.move(300 * DAY)
    await login(first, 'nina').expect(200)
    clock.move(66 * DAY)
    await login(second, 'nina').expect(200)
    await settled()
    expect(made.notices).toHaveLength(2)
  })

  it('comes again for the browser that “this wasn’t me” was said about, and for no other', async () => {
    const clock = stopClock()
    const made = noticing()
    const [owner, other] = [jsonAgent(made.app), jsonAgent(made.app)]
    await login(owner, 'nina').expect(200)
    clock.move(MINUTE)
    await login(other, 'nina').expect(200)
    await settled()
    const token = new URL(made.notices[0]?.notMeUrl ?? '').searchParams.get('token')
    clock.move(MINUTE)
    await jsonAgent(made.app).post('/mfa/not-me').send({ token }).expect(200)
    clock.move(MINUTE)
    for (const agent of [owner, other]) await login(agent, 'nina').expect(200)
    await settled()
    expect(made.notices.map(({ type }) => type)).toEqual(['new_browser', 'new_browser'])
  })

  it('is left out while the store fails, and nobody waits for it', async () => {
    const broken = async () => {
      throw new Error('no store')
    }
    const never = () => new Promise<never>(() => {})
    const rest = { put: broken, swap: broken, remove: broken }
    for (const read of [broken, never]) {
      const notices = { newBrowser: true, store: { ...rest, read, add: read } }
      // With a public address, the gate reads the store at each request.
      const made = noticing({ urls: {}, notices })
      const agent = jsonAgent(made.app)
      await login(agent, 'nina').expect(200)
      await settled()
      expect(made.notices).toEqual([])
      if (read === broken)
        expect(JSON.stringify(made.errors)).toContain('the browser of a sign-in was not looked up')
    }
  })

  it('needs a store and a function to call, and the app says so when it starts', () => {
    for (const notices of [
      { newBrowser: true, store: 'memory' },
      { newBrowser: true, onNotice: () => {} },
    ] as const) {
      expect(() => createMfa(host({ options: { notices } }).mfa)).toThrow(
        'notices.newBrowser needs notices.onNotice, and a store',
      )
    }
  })

  it('is not written, and no cookie is set, unless the option says so', async () => {
    const made = noticing({ notices: { newBrowser: false } })
    for (const _ of [1, 2]) {
      const { headers } = await login(jsonAgent(made.app), 'nina').expect(200)
      expect(String(headers['set-cookie'])).not.toContain('mfa_browser')
    }
    await settled()
    expect(made.notices).toEqual([])
  })
})
