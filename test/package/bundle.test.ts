import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { type Consumer, consumer, EXPRESS_APP, installService } from './kit.js'

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
  const mfa = createMfa<User>({ service: service.mfa, factors: ({ email }) => [{ method: 'email', email }] })
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

describe('an app that esbuild bundles with the packages left out', () => {
  let project: Consumer

  beforeAll(async () => {
    project = await consumer({ ...EXPRESS_APP, '@electric-sql/pglite': '@electric-sql/pglite' })
    await installService(project)
    await project.write('app.ts', APP)
  })
  afterAll(() => project.dispose())

  it('starts and serves its pages, as an ES module and as CommonJS', () =>
    everyCase(['esm', 'cjs'] as const, async (format) => {
      const outfile = join(project.folder, `dist/app.${format === 'esm' ? 'mjs' : 'cjs'}`)
      await build({
        entryPoints: [join(project.folder, 'app.ts')],
        outfile,
        format,
        bundle: true,
        platform: 'node',
        external: ['countersign', '@countersign/service'],
        logLevel: 'silent',
        banner: format === 'esm' ? { js: REQUIRE } : {},
      })
      const printed = (await project.node(outfile)).trim().split('\n')
      expect(printed.at(-1)).toBe('pending true 200 text/css; charset=utf-8')
    }))
})

// Express itself needs it in an ES module.
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
