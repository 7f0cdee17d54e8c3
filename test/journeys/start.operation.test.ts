import request from 'supertest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../kit/temporary-folder.js'
import { startApp } from './kit/process.js'

describe('the example app at its start', () => {
  it('prints its address last and alone, after one line for who to sign in as, and no warning of a package', async () => {
    const { path, remove } = temporaryFolder()
    onTestFinished(remove)
    const app = await startApp({ DATA_DIR: path, PUBLIC_URL: 'http://localhost:3000' })
    onTestFinished(() => app.stop())
    const lines = app.output().trimEnd().split('\n')
    expect(lines.slice(-3)).toEqual([
      'Sign in as bob with the password bob-opens-vault',
      '',
      `Vault is open on ${app.url}`,
    ])
    expect(app.output()).not.toMatch(/warn/i)
    // Loads oidc-provider.
    const { body } = await request(app.url).get('/id/.well-known/openid-configuration').expect(200)
    expect(body).toHaveProperty('authorization_endpoint')
    expect(app.output()).not.toContain('Unsupported runtime')
  })
})
