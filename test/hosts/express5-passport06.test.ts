import { createRequire } from 'node:module'
import passport from 'passport'
import { expect, it, vi } from 'vitest'
import { signsIn } from './journey.js'

// The host's versions are whatever the package names stand for.
vi.mock('passport', async () => import('passport06'))

it('is what it says', () => {
  const { version } = createRequire(import.meta.url)('passport06/package.json')
  expect(version).toMatch(/^0\.6\./)
  expect(passport).toBe(createRequire(import.meta.url)('passport06'))
})

signsIn('Express 5 and Passport 0.6', () => undefined)
