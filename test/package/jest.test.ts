import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, EXPRESS_APP, ROOT } from './kit.js'

const run = promisify(execFile)

const BODY = `
const bob = { id: 'bob', phone: '+447700900102' }

test('a page asks for the second factor', async () => {
  const kit = mfaTestKit()
  const mfa = { service: kit.service, factors: ({ phone }) => [{ method: 'sms', phone }] }
  passport.serializeUser((user, done) => done(null, user.id))
  passport.deserializeUser((id, done) => done(null, bob))
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfaRouter(mfa))
  app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json({}))))
  app.get('/page', requireMfa(), (req, res) => res.json({ id: req.user.id }))

  const agent = request.agent(app).set('Accept', 'application/json')
  expect((await agent.get('/page')).status).toBe(401)
  await signInWithMfa(agent, { kit, login: { fields: {} } })
  expect((await agent.get('/page')).body).toEqual({ id: 'bob' })
  expect((await agent.get('/mfa/assets/mfa.css')).status).toBe(200)
  kit.reset()
})

test('a contact is parsed', () => {
  expect(parseUser('a@b.example').kind).toBe('email')
})

test('the client loads undici when it is first needed, and reports a service that does not listen', async () => {
  const client = mfaClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'a'.repeat(32) })
  const call = client.send({ method: 'sms', contact: { kind: 'phone', phone: '+447700900102' } })
  await expect(call).rejects.toBeInstanceOf(ServiceError)
  await client.close()
})
`

const REQUIRES = `
const express = require('express')
const session = require('express-session')
const passport = require('passport')
const request = require('supertest')
const { mfaClient, mfaRouter, requireMfa, ServiceError } = require('countersign')
const { parseUser } = require('countersign/protocol')
const { mfaTestKit, signInWithMfa } = require('countersign/testing')
`

const IMPORTS = `
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import request from 'supertest'
import { mfaClient, mfaRouter, requireMfa, ServiceError } from 'countersign'
import { parseUser } from 'countersign/protocol'
import { mfaTestKit, signInWithMfa } from 'countersign/testing'
`

describe.each(['jest29', 'jest30'])('an app tested with %s without configuration', (jest) => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, supertest: 'supertest' })
    // Jest keeps its cache there.
    await mkdir(join(project.folder, 'tmp'))
  })

  afterAll(() => project.dispose())

  /** The report of Jest, which it writes to the standard error stream even when all tests pass. */
  async function report(type: 'commonjs' | 'module', test: string): Promise<string> {
    await project.write('package.json', JSON.stringify({ type }))
    await project.write('app.test.js', test + BODY)
    const nodeOptions = type === 'module' ? ['--experimental-vm-modules', '--no-warnings'] : []
    const { stderr } = await run(
      process.execPath,
      [...nodeOptions, join(ROOT, 'node_modules', jest, 'bin/jest.js')],
      { cwd: project.folder, env: { PATH: process.env.PATH, TMPDIR: join(project.folder, 'tmp') } },
    )
    return stderr
  }

  it('can require the package in a CommonJS project', async () => {
    expect(await report('commonjs', REQUIRES)).toContain('Tests:       3 passed, 3 total')
  })

  it('can import the package in an ES module project', async () => {
    expect(await report('module', IMPORTS)).toContain('Tests:       3 passed, 3 total')
  })
})
