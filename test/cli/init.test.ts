import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
import { everyCase } from '../kit/every-case.js'
import { temporaryFolder } from '../kit/temporary-folder.js'

type Files = Readonly<Record<string, string>>

/** An empty folder until the end of the test. */
function emptyFolder(): string {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  return path
}

/** A package.json with these packages. */
const manifest = (packages: string, more = {}) =>
  JSON.stringify({
    name: 'orders',
    dependencies: Object.fromEntries(packages.split(' ').map((name) => [name, '^1.0.0'])),
    ...more,
  })

const PACKAGES = 'express express-session passport'
const IMPORTS = "import express from 'express'\nimport passport from 'passport'\nconst app = express()\n"
const REQUIRES = IMPORTS.replaceAll(/import (\w+) from (.*)/g, 'const $1 = require($2)')
const MOUNT = 'app.use(passport.session())\n'

/** Runs `countersign init` in a folder with these files. */
async function init(files: Files) {
  const folder = emptyFolder()
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const before = await readdir(folder, { recursive: true })
  const out: string[] = []
  const err: string[] = []
  const code = await runCommand(['init', folder], {
    env: {},
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
  })
  expect(await readdir(folder, { recursive: true })).toEqual(before)
  return { code, out: out.join('\n'), err: err.join('\n') }
}

describe('countersign init', () => {
  it('prints an import that the file can load, by the nearest package.json and how the file is written', async () => {
    const [commonJs, modules] = [manifest(PACKAGES), manifest(PACKAGES, { type: 'module' })]
    await everyCase(
      [
        ['CommonJS', { 'package.json': commonJs, 'app.js': REQUIRES + MOUNT }, "require('./mfa.js')"],
        ['ES modules', { 'package.json': modules, 'app.js': IMPORTS + MOUNT }, "from './mfa.js'"],
        ['.mjs', { 'package.json': commonJs, 'app.mjs': IMPORTS + MOUNT }, "from './mfa.mjs'"],
        ['.cjs', { 'package.json': modules, 'app.cjs': REQUIRES + MOUNT }, "require('./mfa.cjs')"],
        ['compiled to CommonJS', { 'package.json': commonJs, 'app.ts': IMPORTS + MOUNT }, "from './mfa'"],
        ['compiled to ES modules', { 'package.json': modules, 'app.ts': IMPORTS + MOUNT }, "from './mfa.js'"],
        [
          'TypeScript that Node runs',
          { 'package.json': modules, 'app.ts': `import { users } from './users.ts'\n${IMPORTS}${MOUNT}` },
          "from './mfa.ts'",
        ],
        [
          'a file of that name',
          { 'package.json': commonJs, 'app.js': REQUIRES + MOUNT, 'mfa.js': '' },
          "require('./second-factor.js')",
        ],
        [
          'a package of ES modules below a package of CommonJS',
          {
            'package.json': manifest('typescript', { workspaces: ['packages/*'] }),
            'packages/api/package.json': modules,
            'packages/api/src/app.ts': IMPORTS + MOUNT,
          },
          "from './mfa.js'",
        ],
      ] as const,
      async ([, files, expected]) => {
        const { code, out, err } = await init(files)
        expect(out).toContain(expected)
        expect([code, err]).toEqual([0, ''])
      },
    )
  })

  it('names the file, the line and the app that mounts passport.session(), and no comment or test', async () => {
    const session =
      '// app.use(passport.session())\nexport const mount = (server) => {\n  server.use(passport.authenticate("session"))\n}'
    const { out } = await init({
      'package.json': manifest(PACKAGES),
      'config/session.js': session,
      'test/app.js': MOUNT,
      'app.js': '/*\n * passport.session() is in config/session.js\n */',
    })
    expect(out).toContain("Express ^1.0.0. Passport's session: config/session.js:3.")
    expect(out).toContain('Add to config/session.js, directly after passport.session() in line 3:')
    expect(out).toContain('    server.use(mfa.router)')
  })

  it('prints the command that proves it: with --body json where nothing else is read, and none with a password for Google', async () => {
    const command =
      "    npx --no countersign check --start 'npm run build -w packages/api && npm start -w packages/api' --sign-in 'POST /login username=…&password=$APP_PASSWORD'"
    const app = (packages: string, more: string) => ({
      'package.json': manifest('typescript'),
      'packages/api/package.json': manifest(packages, {
        scripts: { build: 'tsc', start: 'node dist/app.js' },
      }),
      'packages/api/app.js': REQUIRES + MOUNT + more,
    })
    const json = await init(app(PACKAGES, 'app.use(express.json())'))
    expect(json.out).toContain(`${command} --body json --protected /…`)
    const form = await init(app(PACKAGES, 'app.use(express.json(), express.urlencoded({ extended: false }))'))
    expect(form.out).toContain(`${command} --protected /…`)
    const google = await init(app(`${PACKAGES} passport-google-oauth20`, ''))
    expect(google.out).toContain(
      'Users sign in at a provider (passport-google-oauth20), where no command can sign in.',
    )
    expect(google.out).not.toContain('PASSWORD')
    const both = await init(app(`${PACKAGES} passport-google-oauth20 passport-local`, ''))
    expect(both.out).toContain(command)
  })

  it('says what it sees beside: tokens, a check of CSRF tokens, and a gate that is mounted', async () => {
    const beside = await init({
      'package.json': manifest(`${PACKAGES} passport-jwt csurf`),
      'app.js': REQUIRES + MOUNT,
    })
    expect(beside.out).toContain(
      'Tokens (passport-jwt) are accepted without a second factor: see docs/does-it-fit.md.',
    )
    expect(beside.out).toContain('Call csurf after the new lines')
    const mounted = await init({
      'package.json': manifest(PACKAGES),
      'app.js': `${REQUIRES}${MOUNT}const { createMfa } = require('countersign')\napp.use(mfa.router)`,
    })
    expect(mounted.out).toContain('Nothing is left to add: Countersign is mounted at app.js:6.')
    expect(mounted.out).not.toContain('Create')
    expect(mounted.out).toContain('npx --no countersign check --start ')
  })

  it('reads no file that a symbolic link leads to', async () => {
    const elsewhere = emptyFolder()
    await writeFile(join(elsewhere, 'app.js'), MOUNT)
    const folder = emptyFolder()
    await writeFile(join(folder, 'package.json'), manifest(PACKAGES))
    await symlink(join(elsewhere, 'app.js'), join(folder, 'app.js'))
    await symlink(elsewhere, join(folder, 'src'))
    const err: string[] = []
    const io = { env: {}, stdin: async () => '', out: () => {}, err: (text: string) => void err.push(text) }
    expect(await runCommand(['init', folder], io)).toBe(2)
    expect(err.join()).toContain('passport.session() is called nowhere in the sources')
  })

  it('refuses an app without a session that it can gate, in one sentence with the page to read', async () => {
    await everyCase(
      [
        ['no session', 'express', 'The app has no session'],
        ['cookie-session', 'express passport cookie-session', '(cookie-session)'],
        ['tokens', 'express passport passport-jwt', 'with tokens only (passport-jwt)'],
        ['a session without Passport', 'express express-session', 'express-session without Passport'],
        ['Passport without its session', PACKAGES, 'passport.session() is called nowhere'],
        ['no Express', 'koa', 'There is no Express app'],
      ] as const,
      async ([, packages, expected]) => {
        const { code, out, err } = await init({ 'package.json': manifest(packages), 'app.js': REQUIRES })
        const [sentence, page = ''] = err.split('\n')
        expect(sentence).toContain(expected)
        expect(page).toMatch(/^Read docs\/[\w-]+\.md\.$/)
        expect([code, out]).toEqual([2, ''])
      },
    )
  })

  it('says that a folder has no package.json, or one that is not JSON', async () => {
    expect(await init({})).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no package.json in '),
    })
    expect(await init({ 'package.json': '{' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not JSON.'),
    })
  })
})
