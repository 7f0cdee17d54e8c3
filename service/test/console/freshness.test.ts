import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { PAGE_ROUTES, PUBLIC_ROUTES } from '../../src/console/console.js'
import { advance, stopClock } from '../kit.js'
import { openConsole, post, type SignedIn, type TestConsole } from './kit.js'

const APPLICATION = '/console/applications/:application'

/**
 * Every route of the console that takes a form, and why it needs a second factor of the last ten minutes or does without. A new route
 * is added here: `fresh` unless what it does hands over no account, lowers no strength and shows no secret.
 */
const ROUTES: Readonly<Record<string, readonly ['fresh' | 'any', string]>> = {
  '/console/applications': ['any', 'creates an application without keys and users'],
  [APPLICATION]: ['fresh', 'relying party, origins, senders, limits, methods'],
  [`${APPLICATION}/keys`]: ['fresh', 'shows a new API key'],
  [`${APPLICATION}/keys/revoke`]: ['fresh', 'ends an API key'],
  '/console/search': ['any', 'finds users and messages; a form keeps the contact out of the address'],
  [`${APPLICATION}/users/:user/unlock`]: ['fresh', 'gives an attacker more attempts'],
  [`${APPLICATION}/users/:user/disable`]: ['fresh', 'takes a factor away'],
  [`${APPLICATION}/users/:user/remove-key`]: ['fresh', 'takes a factor away'],
  [`${APPLICATION}/users/:user/erase`]: ['fresh', 'takes all factors away'],
  [`${APPLICATION}/locked/unlock`]: ['fresh', 'gives attackers more attempts'],
  [`${APPLICATION}/messages/retry`]: ['any', 'sends messages to the contacts that they were written for'],
  [`${APPLICATION}/messages/:id/retry`]: ['any', 'sends a message to the contact that it was written for'],
  [`${APPLICATION}/traffic/pause`]: ['any', 'stops messages; resuming is as easy'],
  [`${APPLICATION}/traffic/resume`]: ['any', 'sends messages that the application asks for'],
  [`${APPLICATION}/webhook`]: ['fresh', 'sends codes to another address'],
  [`${APPLICATION}/webhook/rotate`]: ['fresh', 'shows a new secret'],
  [`${APPLICATION}/webhook/remove`]: ['fresh', 'sends codes another way'],
  [`${APPLICATION}/events`]: ['fresh', 'shows a new secret, and sends events to another address'],
  [`${APPLICATION}/events/:endpoint/pause`]: ['any', 'events wait; resuming is as easy'],
  [`${APPLICATION}/events/:endpoint/resume`]: ['any', 'sends events to an address that was set before'],
  [`${APPLICATION}/events/:endpoint/test`]: ['any', 'sends an event without content'],
  [`${APPLICATION}/events/:endpoint/resend`]: ['any', 'sends an event to an address that was set before'],
  [`${APPLICATION}/events/:endpoint/resend-given-up`]: [
    'any',
    'sends events to an address that was set before',
  ],
  [`${APPLICATION}/events/:endpoint/rotate`]: ['fresh', 'shows a new secret'],
  [`${APPLICATION}/events/:endpoint/remove`]: ['fresh', 'deletes events that wait'],
  '/console/approvals/approve': ['fresh', 'makes a change to a user or an operator'],
  '/console/approvals/refuse': ['any', 'changes nothing; asking again is as easy'],
  '/console/operators/invite': ['fresh', 'shows a link that makes an operator'],
  '/console/operators/revoke': ['fresh', 'ends a link'],
  '/console/operators/role': ['fresh', 'gives a role'],
  '/console/operators/sessions': ['fresh', 'ends sessions'],
  '/console/operators/reset': ['fresh', 'shows a link that makes an operator'],
  '/console/operators/disable': ['fresh', 'ends an account'],
}

/** Forms of people who are not signed in yet, or any more. The plugin, below `/console/mfa`, has freshness rules of its own. */
const WITHOUT_SIGN_IN = ['/console/invitation/:token', '/console/sign-in', '/console/sign-out']

describe('the freshness of the second factor at every route of the console (R106)', () => {
  let console: TestConsole
  let admin: SignedIn
  beforeAll(async () => {
    stopClock()
    console = await openConsole({ url: 'https://console.example' })
    admin = await console.signUp('admin')
    advance(10 * 60)
  })
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    await console.service.close()
  })

  test('is decided for every route that takes a form (R106)', () => {
    const posts = PAGE_ROUTES.filter(({ method }) => method !== 'get').map(({ path }) => path)
    expect(posts.sort()).toEqual(Object.keys(ROUTES).sort())
  })

  test('cannot be avoided by a route that is in no list (R106)', () => {
    // Every route that Express has.
    const router = console.service.console?.router as unknown as {
      readonly stack: readonly {
        readonly route?: { readonly path: string; readonly methods: Readonly<Record<string, boolean>> }
      }[]
    }
    const found = router.stack.flatMap(({ route }) =>
      route && Object.keys(route.methods).some((method) => method !== 'get' && method !== 'head')
        ? [route.path]
        : [],
    )
    expect(found.sort()).toEqual([...Object.keys(ROUTES), ...WITHOUT_SIGN_IN].sort())
    expect(PUBLIC_ROUTES.length).toBeGreaterThan(0)
  })

  test('accepts a second factor as old as its route permits (R106)', () =>
    everyCase(
      Object.entries(ROUTES).map(([path, [need, why]]) => ({ path, need, why })),
      async ({ path, need }) => {
        const url = path.replace(/:\w+/g, 'unknown')
        const { status, headers } = await post(admin.browser, url)
        const asksAgain = status === 303 && /^\/console\/mfa/.test(headers.location ?? '')
        expect([url, asksAgain]).toEqual([url, need === 'fresh'])
      },
    ))
})
