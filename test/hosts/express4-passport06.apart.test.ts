import { createRequire } from 'node:module'
import express from 'express'
import passport from 'passport'
import { expect, it, vi } from 'vitest'
import { requireMfa } from '../../src/index.js'
import { approve, signedIn } from '../approvals/kit.js'
import { describeHost } from './describe-host.js'

// The host and the sources import these versions under the usual names.
vi.mock('express', async () => import('express4'))
vi.mock('passport', async () => import('passport06'))

it('Express 4 and Passport 0.6 are the versions of the host', () => {
  expect(createRequire(import.meta.url)('express4/package.json').version).toMatch(/^4\.22\./)
  expect(express).toBe(createRequire(import.meta.url)('express4'))
  expect(createRequire(import.meta.url)('passport06/package.json').version).toMatch(/^0\.6\./)
  expect(passport).toBe(createRequire(import.meta.url)('passport06'))
})

describeHost('Express 4 and Passport 0.6', () => undefined)

it('asks for an approval without an optional path parameter, which Express 4 sets to undefined (R147)', async () => {
  const { agent, standIn } = await signedIn(undefined, {
    routes(inner) {
      const rule = requireMfa({ bind: ['amount'] })
      inner.post('/buy/:currency?', express.json(), rule, (_req, res) => void res.json({}))
    },
  })
  await approve({ standIn }, agent, () => agent.post('/buy').send({ amount: '5' }))
  await agent.post('/buy/EUR').send({ amount: '5' }).expect(401)
  await approve({ standIn }, agent, () => agent.post('/buy').send({ amount: '5' }))
  await agent.post('/buy').send({ amount: '5' }).expect(200)
})
