import { createRequire } from 'node:module'
import express from 'express'
import passport from 'passport'
import { expect, it, vi } from 'vitest'
import { signsIn } from './journey.js'

// The host's versions are whatever the package names stand for, for the sources as for the host.
vi.mock('express', async () => import('express4'))
vi.mock('passport', async () => import('passport06'))

it('is what it says', () => {
  expect(createRequire(import.meta.url)('express4/package.json').version).toMatch(/^4\.22\./)
  expect(express).toBe(createRequire(import.meta.url)('express4'))
  expect(createRequire(import.meta.url)('passport06/package.json').version).toMatch(/^0\.6\./)
  expect(passport).toBe(createRequire(import.meta.url)('passport06'))
})

signsIn('Express 4 and Passport 0.6', () => undefined)
