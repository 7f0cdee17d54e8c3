import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { type Consumer, consumer, EXPRESS_APP } from './kit.js'

const ENTRIES = ['countersign', 'countersign/protocol', 'countersign/speech', 'countersign/testing']

/** Prints which names of an entry differ between `required` and `imported`, and how many there are. */
const COMPARE = `
function compare(entry, required, imported) {
  const names = Object.keys(required)
  const differing = names.filter((name) => required[name] !== imported[name])
  const extra = Object.keys(imported).filter((name) => !names.includes(name))
  console.log(JSON.stringify({ entry, empty: names.length === 0, differing, extra }))
}
`

const SAME = ENTRIES.map((entry) => JSON.stringify({ entry, empty: false, differing: [], extra: [] }))

/** An app whose pages of \`/mfa\` come from the copy that a header names, both with the same options. */
const APP = `
const express = require('express')
const session = require('express-session')
const passport = require('passport')
const request = require('supertest')
const { mfaTestKit } = require('countersign/testing')

async function main() {
  const copies = { required: require('countersign'), imported: await import('countersign') }
  const kit = mfaTestKit()
  const bob = { id: 'bob', phone: '+447700900102' }
  const mfa = { service: kit.service, factors: ({ phone }) => [{ method: 'sms', phone }] }
  passport.serializeUser((user, done) => done(null, user.id))
  passport.deserializeUser((id, done) => done(null, bob))
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session())
  app.use(copies.required.mfaSession(mfa))
  const routers = { required: copies.required.mfaRouter(mfa), imported: copies.imported.mfaRouter(mfa) }
  app.use('/mfa', (req, res, next) => routers[req.get('x-copy')](req, res, next))
  app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json({}))))

  const agent = request.agent(app).set('Accept', 'application/json')
  await agent.post('/login')
  const post = (path, copy, body) => agent.post('/mfa/' + path).set('x-copy', copy).send(body)
  await post('challenge', 'required', { factor: 'sms' })
  const wrong = [...kit.inbox.newest().code].map((digit) => (Number(digit) + 1) % 10).join('')
  for (const copy of ['imported', 'required', 'imported']) {
    console.log((await post('verify', copy, { code: wrong })).body.attemptsLeft)
  }
  const { createMfa } = copies.required
  console.log(JSON.stringify(createMfa(mfa).metrics()) === JSON.stringify(copies.imported.createMfa(mfa).metrics()))
}
main()
`

/** A stand-in for the service that prints when it is loaded. */
const LOUD_SERVICE = `
console.log('the service is loaded')
exports.readEnvironment = () => ({ options: {} })
exports.createService = async () => ({ mfa: {} })
`

describe('the package in an app', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, supertest: 'supertest' })
  })

  afterAll(() => project.dispose())

  const lines = async (file: string) => (await project.node(file)).trim().split('\n')

  it('is one copy when it is required first and imported later', async () => {
    await project.write(
      'require-first.cjs',
      `${COMPARE}
       const entries = ${JSON.stringify(ENTRIES)}
       const required = entries.map((entry) => require(entry))
       Promise.all(entries.map((entry) => import(entry))).then((imported) => {
         entries.forEach((entry, index) => compare(entry, required[index], imported[index]))
       })`,
    )
    expect(await lines('require-first.cjs')).toEqual(SAME)
  })

  it('is one copy when it is imported first and required later', async () => {
    await project.write(
      'import-first.mjs',
      `import { createRequire } from 'node:module'
       ${COMPARE}
       const require = createRequire(import.meta.url)
       for (const entry of ${JSON.stringify(ENTRIES)}) {
         const imported = await import(entry)
         compare(entry, require(entry), imported)
       }`,
    )
    expect(await lines('import-first.mjs')).toEqual(SAME)
  })

  it('has one ServiceError in both entries, named after its class', async () => {
    await project.write(
      'service-error.cjs',
      `const { MfaError, OptionsError, ServiceError } = require('countersign')
       import('countersign/protocol').then((protocol) => {
         console.log(protocol.ServiceError === ServiceError, ServiceError.name, new OptionsError(['no']).name)
         console.log(ServiceError.prototype instanceof MfaError)
       })`,
    )
    expect(await lines('service-error.cjs')).toEqual(['true ServiceError OptionsError', 'true'])
  })

  it('counts wrong codes and events once, for required and imported functions with the same options', async () => {
    await project.write('counters.cjs', APP)
    expect(await lines('counters.cjs')).toEqual(['4', '3', '2', 'true'])
  })

  it('runs in strict mode, and has no default export', async () => {
    await project.write(
      'strict.cjs',
      `const fs = require('node:fs')
       const folder = require('node:path').dirname(require.resolve('countersign'))
       const sloppy = fs.readdirSync(folder).filter((name) => !/^"use strict"/.test(fs.readFileSync(folder + '/' + name)))
       import('countersign').then((esm) => console.log(sloppy.length, 'default' in esm))`,
    )
    expect(await lines('strict.cjs')).toEqual(['0 false'])
  })

  it('can be imported by an ES module, and its pages find their stylesheet', async () => {
    await project.write(
      'esm.mjs',
      `import * as mfa from 'countersign'
       import { parseUser } from 'countersign/protocol'
       const service = { send() {}, verify() {}, enrollApp() {}, sendBackupCodes() {} }
       mfa.mfaRouter({ service, factors: () => [], onFactorsChanged() {}, recordedFactors() {} })
       console.log(Object.keys(mfa).sort().join(' '), parseUser('a@b.example').kind)`,
    )
    expect((await project.node('esm.mjs')).trim()).toBe(
      'HostError LimitsStoreError MfaError MfaStrategy OptionsError ServiceError SessionEndedError SessionStoreError TrustStoreError WebhookSignatureError ' +
        'backupRouter challengeRouter createMfa enrollAppRouter mfaClient mfaRouter mfaSession requireMfa startMfa verifyRouter verifyWebhook email',
    )
  })

  it('can be tested with its test kit, without a test runner', async () => {
    await project.write(
      'kit.mjs',
      `import express from 'express'
       import session from 'express-session'
       import passport from 'passport'
       import request from 'supertest'
       import { mfaRouter, mfaSession, requireMfa } from 'countersign'
       import { mfaTestKit, signInWithMfa } from 'countersign/testing'
       const kit = mfaTestKit()
       const bob = { id: 'bob', phone: '+447700900102', mail: 'bob@example.com' }
       const mfa = {
         service: kit.service,
         factors: ({ phone, mail }) => [{ method: 'sms', phone }, { method: 'app', user: mail }],
       }
       passport.serializeUser((user, done) => done(null, user.id))
       passport.deserializeUser((id, done) => done(null, bob))
       const app = express()
       app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfaSession(mfa))
       app.use('/mfa', mfaRouter(mfa))
       app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json({}))))
       app.get('/money', requireMfa({ maxAge: '5m' }), (req, res) => res.json({ for: req.user.id }))
       const agent = request.agent(app).set('Accept', 'application/json')
       const statuses = []
       const visit = async () => statuses.push((await agent.get('/money')).status)
       await visit()
       await signInWithMfa(agent, { kit, login: { fields: {} } })
       await visit()
       kit.clock.advance('5m')
       await visit()
       kit.fail('down')
       statuses.push((await agent.post('/mfa/challenge').send({ factor: 'sms' })).status)
       kit.apps.enroll(bob.mail)
       await signInWithMfa(agent, { kit, factor: 'app' })
       await visit()
       kit.reset()
       console.log(statuses.join(' '))`,
    )
    expect((await project.node('kit.mjs')).trim()).toBe('401 200 401 503 200')
  })

  it('says what to install where no service is given and none is installed', async () => {
    const rest = 'try { countersign.mfaRouter({}) } catch (error) { console.log(error.message) }'
    await project.write('alone.mjs', `import * as countersign from 'countersign'\n${rest}`)
    await project.write('alone.cjs', `const countersign = require('countersign')\n${rest}`)
    await everyCase(['alone.mjs', 'alone.cjs'], async (file) => {
      expect(await project.node(file)).toContain(
        'install @countersign/service, which then runs in this process',
      )
    })
  })

  it('loads an installed service only for options without a service', async () => {
    onTestFinished(() => rm(join(project.folder, 'node_modules/@countersign'), { recursive: true }))
    await project.write('node_modules/@countersign/service/package.json', '{ "main": "index.cjs" }')
    await project.write('node_modules/@countersign/service/index.cjs', LOUD_SERVICE)
    const rest = `
      const factors = () => []
      const service = { send() {}, verify() {}, enrollApp() {}, sendBackupCodes() {} }
      mfaRouter({ service, factors, apps: false })
      setTimeout(() => {
        console.log('not loaded')
        mfaRouter({})
      }, 20)`
    await project.write('lazy.mjs', `import { mfaRouter } from 'countersign'\n${rest}`)
    await project.write('lazy.cjs', `const { mfaRouter } = require('countersign')\n${rest}`)
    await everyCase(['lazy.mjs', 'lazy.cjs'], async (file) => {
      expect(await lines(file)).toEqual(['not loaded', 'the service is loaded'])
    })
  })

  it('reports all faults of its options at once', async () => {
    await project.write(
      'faults.mjs',
      `import { mfaSession } from 'countersign'
       try { mfaSession({ service: { baseUrl: 'http://10.0.0.7', apiKey: 'two words' }, factorz: 1, login: { pendingLifetime: 5 } }) }
       catch (error) { console.log(error.faults.length, error.message) }`,
    )
    const reported = await project.node('faults.mjs')
    for (const name of ['service.baseUrl', 'service.apiKey', 'factors', 'factorz', 'login.pendingLifetime']) {
      expect(reported).toContain(name)
    }
  })
})
