import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { type Consumer, consumer, EXPRESS_APP, installService, ROOT } from './kit.js'

/** An app with the service in the same process, which prints what its stylesheet, its factor page and a sign-in answer. */
const APP = `
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { createService } from '@countersign/service'
import { createMfa } from 'countersign'

interface User { id: string; email: string }
const bob: User = { id: 'bob', email: 'bob@example.com' }

async function main() {
  const service = await createService({ dataDir: 'memory://', secret: 'a secret for a bundle, long enough', delivery: 'inbox', logger() {} })
  const mfa = createMfa<User>({ service: service.mfa, factors: ({ email }) => [{ method: 'email', email }], logger: { warn: console.log, error: console.log } })
  passport.serializeUser((user, done) => done(null, (user as User).id))
  passport.deserializeUser((id, done) => done(null, bob))
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session())
  app.use(mfa.session)
  app.use('/mfa', mfa.router)
  app.post('/login', (req, res, next) => req.logIn(bob, (error) => (error ? next(error) : res.json(req.mfa.status))))
  const server = app.listen(0, '127.0.0.1', async () => {
    const base = 'http://127.0.0.1:' + (server.address() as { port: number }).port
    const login = await fetch(base + '/login', { method: 'POST' })
    const cookie = login.headers.getSetCookie().map((one) => one.split(';')[0]).join('; ')
    const page = await (await fetch(base + '/mfa?choose', { headers: { cookie, accept: 'text/html' } })).text()
    const stylesheet = /href="([^"]+[.]css[^"]*)"/.exec(page)?.[1]
    const { status, headers } = await fetch(new URL(String(stylesheet), base))
    console.log(await login.json(), page.includes('b…b@example.com'), status, headers.get('content-type'))
    server.close()
    await service.close()
  })
}
main()
`

describe('an app that esbuild bundles', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, '@electric-sql/pglite': '@electric-sql/pglite' })
    await installService(project)
    await project.write('app.ts', APP)
  })
  afterAll(() => project.dispose())

  /** Bundles the app without these packages, and returns where it is. */
  async function bundle(format: 'esm' | 'cjs', external: string[]): Promise<string> {
    const outfile = join(project.folder, `dist/app.${format === 'esm' ? 'mjs' : 'cjs'}`)
    await build({
      entryPoints: [join(project.folder, 'app.ts')],
      outfile,
      format,
      bundle: true,
      platform: 'node',
      external,
      logLevel: 'silent',
      banner: format === 'esm' ? { js: REQUIRE } : {},
    })
    return outfile
  }

  it('starts with the packages left out that the page names, and has one Passport, as an ES module and as CommonJS', () =>
    everyCase(['esm', 'cjs'] as const, async (format) => {
      const page = await readFile(join(ROOT, 'docs/mounting.md'), 'utf8')
      const [, command = ''] = /```sh\n(npx esbuild [\s\S]*?)```/.exec(page) ?? []
      const external = [...command.matchAll(/--external:(\S+)/g)].map(([, name = '']) => name)
      const printed = await project.node(await bundle(format, external))
      expect(printed.trim().split('\n').at(-1)).toBe('pending true 200 text/css; charset=utf-8')
      expect(printed).not.toContain('MFA_WARN_PASSPORT_INSTANCE')
    }))

  it('says which packages to leave out where Countersign is in the bundle', async () => {
    await expect(
      project.node(await bundle('cjs', ['@countersign/service', '@opentelemetry/api', 'libphonenumber-js'])),
    ).rejects.toThrow(
      'leave the packages out: --external:countersign --external:@countersign/service --external:passport',
    )
  })
})

// Express itself needs it in an ES module.
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
