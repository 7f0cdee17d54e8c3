import { TOTP } from 'otpauth'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byCode, sendApproved } from '../kit/approved-change.js'
import { codeIn } from '../kit/message-code.js'
import type { RunningProcess } from '../kit/process.js'
import { challenge, verify } from '../kit/sign-in.js'
import type { Consumer } from '../package/kit.js'
import { followGuide, messagesIn, showEmailCode, startScript } from './kit.js'

const GUIDE = 'docs/getting-started.md'

describe('the guide docs/getting-started.md', () => {
  let project: Consumer
  let app: RunningProcess

  beforeAll(async () => {
    project = await followGuide(GUIDE)
    app = await startScript(project.folder, 'server.js')
  })

  afterAll(async () => {
    await app?.stop()
    await project?.dispose()
  })

  const browser = () => request.agent(app.url).set('Accept', 'text/html')

  /** Submits the password in a new browser, as the guide's sign-in form does. */
  async function passwordOnly() {
    const agent = browser()
    const form = { username: 'bob', password: 'a good password' }
    await agent.post('/login').type('form').send(form).expect(302).expect('Location', '/')
    await agent.get('/').expect(303).expect('Location', '/mfa')
    return agent
  }

  it('redirects to the sign-in page, and rejects a wrong password', async () => {
    const agent = browser()
    await agent.get('/').expect(302).expect('Location', '/login')
    expect((await agent.get('/login').expect(200)).text).toContain('name="password"')
    const wrong = { username: 'bob', password: 'a bad password' }
    await agent.post('/login').type('form').send(wrong).expect(302).expect('Location', '/login')
  })

  it('signs in with the password and the code from the inbox', async () => {
    const agent = await passwordOnly()
    expect((await agent.get('/mfa').expect(200)).text).toContain('My shop')
    const message = await showEmailCode(agent, project)
    expect(message?.to).toBe('bob@example.com')
    const home = await agent.get('/').expect(200)
    expect(home.text).toContain('Hello bob.')
    expect(home.text).toContain('href="/mfa"')
    expect((await agent.post('/transfer').expect(200)).text).toBe('Transferred.')
    await agent.post('/logout').expect(302).expect('Location', '/login')
    await agent.get('/').expect(302).expect('Location', '/login')
  })

  it('blocks the transfer without the second factor', async () => {
    const agent = await passwordOnly()
    expect((await agent.post('/transfer')).text).not.toContain('Transferred.')
    await browser().post('/transfer').expect(302).expect('Location', '/login')
  })

  it('sets up an authenticator app, which the next sign-in offers', async () => {
    const agent = await passwordOnly()
    await challenge(agent, 'email').type('form').expect(303)
    const [message] = await messagesIn(agent, project)
    await verify(agent, codeIn(message?.text)).type('form').expect(303)
    const enroll = () => agent.post('/mfa/enroll-app').accept('json').send({})
    const newestCode = async () => codeIn((await messagesIn(agent, project))[0]?.text)
    const { body } = await sendApproved(agent, enroll, byCode(agent, newestCode))
    const totp = new TOTP({ secret: body.secret })
    const first = totp.generate({ timestamp: Date.now() - 30_000 })
    await agent.post('/mfa/enroll-app/confirm').accept('json').send({ code: first }).expect(200)

    const next = await passwordOnly()
    await verify(next, totp.generate(), { factor: 'app' }).type('form').expect(303).expect('Location', '/')
    await next.get('/').expect(200)
  })

  it('starts again after it was stopped', async () => {
    await app.stop()
    app = await startScript(project.folder, 'server.js')
    await passwordOnly()
  })
})
