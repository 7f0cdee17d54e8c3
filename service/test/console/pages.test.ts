import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { PAGE_ROUTES } from '../../src/console/routes.js'
import { isAtLeast, ROLES, type Role } from '../../src/operator/role.js'
import { advance, stopClock } from '../kit.js'
import { openConsole, post, read, type SignedIn, type TestConsole, textOf, typeCode } from './kit.js'

describe('the pages of the console', () => {
  let console: TestConsole
  let operators: Readonly<Record<Role, SignedIn>>
  beforeAll(async () => {
    stopClock()
    console = await openConsole()
    operators = {
      viewer: await console.signUp('viewer'),
      support: await console.signUp('support'),
      admin: await console.signUp('admin'),
    }
  })
  afterEach(() => void vi.unstubAllEnvs())
  afterAll(async () => {
    vi.useRealTimers()
    await console.service.close()
  })

  describe('by role (R106)', () => {
    test.each(PAGE_ROUTES.map((route) => ({ ...route, title: `${route.method} ${route.path}` })))(
      '$title requires the role $least',
      async ({ method, path, least }) => {
        const url = path.replace(/:\w+/g, 'unknown')
        const statusOf = async (browser: SignedIn['browser']) =>
          (method === 'get' ? await browser.get(url) : await post(browser, url)).status
        expect(await statusOf(console.open())).toBe(303)
        for (const role of ROLES) {
          const status = await statusOf(operators[role].browser)
          expect([role, status === 403]).toEqual([role, !isAtLeast(role, least)])
          expect(status).toBeLessThan(500)
        }
      },
    )

    test('lets support and admin do what changes something, and nobody by reading', () => {
      for (const { method, path, least } of PAGE_ROUTES) {
        if (method === 'post') expect([path, least]).not.toEqual([path, 'viewer'])
      }
    })
  })

  test('leaves an administrator their own account, and changes the role of others at once', async () => {
    const { browser, email } = operators.admin
    const viewer = await console.signUp('viewer')
    await read(viewer.browser, '/console/operators', 403)
    await post(browser, '/console/operators/role', { email, role: 'viewer' }).expect(422)
    await post(browser, '/console/operators/disable', { email }).expect(422)
    await post(browser, '/console/operators/role', { email: viewer.email, role: 'owner' }).expect(422)
    await post(browser, '/console/operators/role', { email: viewer.email, role: 'admin' }).expect(200)
    expect(await read(viewer.browser, '/console/operators')).toContain(email)
    const disabled = await post(browser, '/console/operators/disable', { email: viewer.email }).expect(200)
    expect(textOf(disabled.text)).toContain(`The account of ${viewer.email} is disabled`)
    await read(viewer.browser, '/console/operators', 303)
  })

  test('asks for the second factor again, after ten minutes, where a role or a secret changes (R17)', async () => {
    const { browser } = operators.admin
    const change = () => post(browser, '/console/operators/role', { email: 'x@example.com', role: 'viewer' })
    await change().expect(422)
    advance(10 * 60)
    await change()
      .expect(303)
      .expect('location', /^\/console\/mfa/)
    advance(30)
    await typeCode(operators.admin).expect(303)
    await change().expect(422)
  })

  test('answers an unknown address and a body that cannot be read with a page', async () => {
    const { browser } = operators.viewer
    expect(await read(browser, '/console/nothing', 404)).toContain('There is no page at this address.')
    await browser
      .post('/console/sign-out')
      .type('form')
      .send(`a=${'x'.repeat(70_000)}`)
      .expect(413)
  })
})
