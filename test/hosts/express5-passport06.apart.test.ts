import { createRequire } from 'node:module'
import passport from 'passport'
import { expect, it, vi } from 'vitest'
import { describeHost } from './describe-host.js'

// The host imports this version under the usual name.
vi.mock('passport', async () => import('passport06'))

it('Passport 0.6 is the version of the host', () => {
  const { version } = createRequire(import.meta.url)('passport06/package.json')
  expect(version).toMatch(/^0\.6\./)
  expect(passport).toBe(createRequire(import.meta.url)('passport06'))
})

describeHost('Express 5 and Passport 0.6', () => undefined)
