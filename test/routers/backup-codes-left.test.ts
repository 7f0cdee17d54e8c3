import express from 'express'
import { describe, expect, it } from 'vitest'
import type { MfaService } from '../../src/index.js'
import { everyCase } from '../kit/every-case.js'
import { browserAgent, host, signIn, signInFully } from '../kit/host.js'
import { login, verify } from '../kit/sign-in.js'
import { standInService } from '../kit/stand-in-service.js'

type Agent = ReturnType<typeof browserAgent>

const verifyBackupCode = (client: Agent, code = 'AAAA-BBBB-CCCC-DDDD') =>
  verify(client, code, { factor: 'backup' })

/** An app whose service reports after a valid backup code that so many are left. */
async function withLeft(left: number | undefined) {
  const standIn = standInService()
  const { service } = standIn
  const reporting: MfaService = {
    ...service,
    async verify(request) {
      const answer = await service.verify(request)
      const isBackup = request.kind === 'backup' && answer.outcome === 'valid'
      return isBackup && left !== undefined ? { ...answer, backupCodesLeft: left } : answer
    },
  }
  const made = host({
    standIn,
    options: { service: reporting },
    behindGate: (app) =>
      app.post('/wants', express.urlencoded({ extended: false }), (req, res) => {
        Object.assign(req.session, { returnTo: req.body.target })
        res.end()
      }),
  })
  const agent = await signInFully(made, 'bob')
  await agent.post('/mfa/backup').send({}).expect(200)
  return made
}

async function browserOf(made: Awaited<ReturnType<typeof withLeft>>, target?: string) {
  const browser = browserAgent(made.app)
  if (target) await browser.post('/wants').type('form').send({ target }).expect(200)
  await login(browser, 'bob').type('form').expect(200)
  return browser
}

describe('a user who signs in with one of the last backup codes', () => {
  it('gets the number in JSON', () =>
    everyCase([0, 2, 3], async (left) => {
      const agent = await signIn((await withLeft(left)).app, 'bob')
      const answer = await verifyBackupCode(agent).expect(200)
      expect(answer.body).toEqual({ status: 'verified', next: '/', backupCodesLeft: left })
    }))

  it('sees a page once, which leads to new codes and on to the requested page', async () => {
    const made = await withLeft(2)
    const browser = await browserOf(made, '/account?tab=1')
    const verified = await verifyBackupCode(browser).type('form').expect(303)
    expect(verified.headers.location).toBe('/mfa/backup-codes-left')
    const page = await browser.get('/mfa/backup-codes-left').expect(200)
    expect(page.text).toContain('You have 2 backup codes left.')
    expect(page.text).toContain('href="/mfa/backup"')
    expect(page.text).toMatch(/<a class="mfa-secondary" href="\/account\?tab=1">Continue/)
    expect((await browser.get('/secret').expect(200)).body.mfa.status).toBe('verified')
  })

  it('is not warned any more once new codes were sent, and continues to the requested page', async () => {
    const made = await withLeft(1)
    const browser = await browserOf(made, '/account?tab=1')
    await verifyBackupCode(browser).type('form').expect(303)
    const sent = await browser.post('/mfa/backup').type('form').send({}).expect(303)
    const page = await browser.get(sent.headers.location ?? '').expect(200)
    expect(page.text).toContain('<a class="mfa-primary" href="/account?tab=1">')
    const again = await browser.get('/mfa/backup-codes-left').expect(303)
    expect(again.headers.location).toBe('/')
  })

  it('has the number in the session, and no code (R10)', async () => {
    const made = await withLeft(2)
    const browser = await browserOf(made)
    await verifyBackupCode(browser).type('form').expect(303)
    const sessions = JSON.stringify(Reflect.get(made.store, 'sessions'))
    expect(sessions).toContain('\\"backupCodes\\":{\\"left\\":2,\\"next\\":\\"/\\"}')
    expect(sessions).not.toContain('AAAA')
  })
})

describe('a user who has more backup codes left', () => {
  it('sees the number after each use, without a warning', async () => {
    const made = await withLeft(4)
    const agent = await signIn(made.app, 'bob')
    const answer = await verifyBackupCode(agent).expect(200)
    expect(answer.body).toEqual({ status: 'verified', next: '/', backupCodesLeft: 4 })

    const browser = await browserOf(await withLeft(4), '/account?tab=1')
    const verified = await verifyBackupCode(browser).type('form').expect(303)
    expect(verified.headers.location).toBe('/mfa/backup-codes-left')
    const page = await browser.get('/mfa/backup-codes-left').expect(200)
    expect(page.text).toContain('<h1>Backup code used</h1>')
    expect(page.text).toContain('You have 4 backup codes left.')
    expect(page.text).toMatch(/<a class="mfa-primary" href="\/account\?tab=1">Continue/)
    expect(page.text).not.toContain('before you need them')
    const overview = await browser.get('/mfa').expect(200)
    expect(overview.text).toContain('You have 4 backup codes left.')
    expect(overview.text).not.toContain('tab=1')
  })

  it('sees the new number once new codes were sent', async () => {
    const browser = await browserOf(await withLeft(4))
    await verifyBackupCode(browser).type('form').expect(303)
    await browser.post('/mfa/backup').type('form').send({}).expect(303)
    expect((await browser.get('/mfa').expect(200)).text).toContain('You have 2 backup codes left.')
  })
})

describe('the number of backup codes', () => {
  it('is counted by the plugin when the service does not report it', async () => {
    const agent = await signIn((await withLeft(undefined)).app, 'bob')
    expect((await verifyBackupCode(agent).expect(200)).body).toEqual({
      status: 'verified',
      next: '/',
      backupCodesLeft: 1,
    })
    const page = await agent.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).toContain('You have 1 backup code left.')
  })

  it('is not shown when neither the service nor the plugin knows it', async () => {
    const standIn = standInService()
    const { service } = standIn
    const sendBackupCodes: MfaService['sendBackupCodes'] = async (request) => {
      await service.sendBackupCodes(request)
      return { outcome: 'sent' }
    }
    const made = host({ standIn, options: { service: { ...service, sendBackupCodes } } })
    await (await signInFully(made, 'bob')).post('/mfa/backup').send({}).expect(200)
    const agent = await signIn(made.app, 'bob')
    expect((await verifyBackupCode(agent).expect(200)).body).toEqual({ status: 'verified', next: '/' })
    const page = await agent.get('/mfa').set('Accept', 'text/html').expect(200)
    expect(page.text).not.toMatch(/backup codes? left/)
  })

  it('is shown neither before the second factor nor after a wrong code', async () => {
    const made = await withLeft(2)
    const browser = await browserOf(made)
    const wrong = await verifyBackupCode(browser, 'ZZZZ').type('form').redirects(1).expect(200)
    expect(wrong.text).not.toContain('2 backup codes')
    const page = await browser.get('/mfa/backup-codes-left').expect(303)
    expect(page.headers.location).toBe('/')
  })
})
