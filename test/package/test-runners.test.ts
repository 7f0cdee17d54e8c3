import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, EXPRESS_APP, ROOT } from './kit.js'

const run = promisify(execFile)

const APP = `
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { createMfa } from 'countersign'

const bob = { id: 'bob', phone: '+447700900102' }
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, bob))

export function createApp({ service }) {
  const mfa = createMfa({ service, factors: ({ phone }) => [{ method: 'sms', phone }] })
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfa.router)
  app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json({}))))
  app.post('/transfer', mfa.requireMfa({ maxAge: '5m' }), (req, res) => res.json({}))
  return app
}
`

describe('the samples of docs/test-runners.md run as they are written', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({
      ...EXPRESS_APP,
      supertest: 'supertest',
      vitest: 'vitest',
      '@jest/globals': '@jest/globals',
    })
    // Jest keeps its cache there.
    await mkdir(join(project.folder, 'tmp'))
    await project.write('package.json', '{ "type": "module" }')
    await project.write('app.js', APP)
  })

  afterAll(() => project?.dispose())

  /** Runs the sample of a test runner, and returns what the runner prints. */
  async function runSample(heading: string, file: string, args: readonly string[]): Promise<string> {
    const page = await readFile(join(ROOT, 'docs/test-runners.md'), 'utf8')
    const [, sample = ''] =
      new RegExp(`### ${heading}\\n[\\s\\S]*?\`\`\`js\\n([\\s\\S]*?)\`\`\``).exec(page) ?? []
    await project.write(file, sample)
    const env = { PATH: process.env.PATH, TMPDIR: join(project.folder, 'tmp'), NO_COLOR: '1' }
    const { stdout, stderr } = await run(process.execPath, [...args], { cwd: project.folder, env })
    return stdout + stderr
  }

  it('in Vitest', async () => {
    const runner = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const printed = await runSample('Vitest', 'vitest.test.js', [runner, 'run', 'vitest.test.js'])
    expect(printed).toMatch(/Tests +2 passed \(2\)/)
  })

  it('in Jest', async () => {
    const runner = join(ROOT, 'node_modules/jest30/bin/jest.js')
    const options = ['--experimental-vm-modules', '--no-warnings']
    const printed = await runSample('Jest', 'jest.test.js', [...options, runner, 'jest.test.js'])
    expect(printed).toContain('Tests:       2 passed, 2 total')
  })
})
