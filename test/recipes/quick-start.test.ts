import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import request from 'supertest'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import type { RunningProcess } from '../kit/process.js'
import { type Consumer, ROOT } from '../package/kit.js'
import { blocksOf, followGuide, installedBy, showEmailCode, startScript } from './kit.js'

const README = 'README.md'

const readJson = async (path: string) => JSON.parse(await readFile(join(ROOT, path), 'utf8'))

describe('the quick start of the README', () => {
  let project: Consumer
  let app: RunningProcess

  beforeAll(async () => {
    project = await followGuide(README)
    app = await startScript(project.folder, 'shop.mjs')
  })

  afterAll(async () => {
    await app?.stop()
    await project?.dispose()
  })

  const browser = () => request.agent(app.url).set('Accept', 'text/html')

  /** Signs in as bob in a new browser, without the second factor. */
  async function pending() {
    const agent = browser()
    await agent.get('/').expect(302).expect('Location', '/login')
    expect((await agent.get('/login').expect(200)).text).toContain('Sign in as bob')
    await agent.post('/login').expect(302).expect('Location', '/')
    await agent.get('/').expect(303).expect('Location', '/mfa')
    return agent
  }

  it('is one file of at most 30 lines', async () => {
    const files = await blocksOf(README, 'js')
    expect(files).toHaveLength(1)
    expect(files[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(30)
  })

  it('shows the guarded page after the code from the inbox, to a user without a phone', async () => {
    const agent = await pending()
    const choice = await agent.get('/mfa').expect(200)
    expect(choice.text).toContain('My shop')
    const message = await showEmailCode(agent)
    expect(message.to).toBe('bob@example.com')
    expect((await agent.get('/').expect(200)).text).toContain('Hello bob.')
    expect((await agent.post('/pay').expect(200)).text).toBe('Paid.')
  })

  it('refuses the payment without the second factor', async () => {
    const agent = await pending()
    expect((await agent.post('/pay')).text).not.toContain('Paid.')
    await browser().post('/pay').expect(302).expect('Location', '/login')
  })
})

describe('a guide from an empty folder', () => {
  it('installs the packages under the names that npm pack gives them', () =>
    everyCase([README, 'docs/getting-started.md'], async (guide) => {
      const packages = await Promise.all(['package.json', 'service/package.json'].map(readJson))
      const tarballs = packages.map(
        ({ name, version }) => `../countersign/${name.replace('@', '').replace('/', '-')}-${version}.tgz`,
      )
      expect((await installedBy(guide)).filter((name) => name.endsWith('.tgz'))).toEqual(tarballs)
      expect(packages[0].engines.node).toBe('>=20.19.0')
    }))
})
