import { readFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type express from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ATTACKS } from '../../src/cli/attack/attacks.js'
import { loopbackAddress } from '../../src/cli/attack/read-target.js'
import type { Relayed } from '../../src/cli/attack/relay.js'
import type { AttackReport } from '../../src/cli/attack.js'
import { createMfa } from '../../src/index.js'
import { getRouteAddress, listRoutes, type Operation } from '../../src/routes/routes.js'
import { memoryStore } from '../../src/stores/memory.js'
import { mfaTestKit } from '../../src/testing/index.js'
import { findingsIn, runAttack, runAttackCommand, skipAllBut } from '../kit/attack.js'
import { everyCase } from '../kit/every-case.js'
import { host, testUsers } from '../kit/host.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { standInService } from '../kit/stand-in-service.js'
import { byHand } from '../naive-apps/by-hand/app.js'
import { lateGate } from '../naive-apps/late-gate/app.js'
import { passportTotp, TOTP_SECRETS } from '../naive-apps/passport-totp/app.js'
import { NAIVE_INBOX_KEY } from '../naive-apps/passwords.js'
import { pendingToken } from '../naive-apps/pending-token/app.js'
import { secondLogin } from '../naive-apps/second-login/app.js'
import { twoGates } from '../naive-apps/two-gates/app.js'
import { LAYOUTS, twoProducts } from '../products/kit.js'

/** Serves an app until the end of the test, and returns its address. */
async function serve(server: Server): Promise<string> {
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://localhost:${await listenOnLoopback(server)}`
}

/** The address of the inbox of a naive app, with its key. */
const INBOX = `/inbox?key=${NAIVE_INBOX_KEY}`

const PASSWORDS = { BOB: 'bob-password', MALLORY: 'mallory-password', OLGA: 'olga-password' }
const USERS = [
  ...['--sign-in', 'POST /login username=bob&password=$BOB', '--protected', '/'],
  ...['--other-sign-in', 'POST /login username=mallory&password=$MALLORY'],
]

/** The attacks that succeed, by the README of a naive app. */
async function listedFindings(folder: string): Promise<(string | undefined)[]> {
  const readme = await readFile(new URL(`../naive-apps/${folder}/README.md`, import.meta.url), 'utf8')
  return [...readme.matchAll(/^- `([\w-]+)`: /gm)].map(([, name]) => name)
}

/** Attacks a naive app, and compares what is broken with the list in its README. */
async function expectItsFindings(
  folder: string,
  app: Server,
  args: readonly string[],
  env = {},
): Promise<AttackReport> {
  const { code, report } = await runAttack(await serve(app), [...USERS, ...args], { ...PASSWORDS, ...env })
  expect(findingsIn(report, 'broken')).toEqual(await listedFindings(folder))
  expect(code).toBe(1)
  return report
}

describe('countersign attack finds exactly what the README of a naive app lists, in an app', () => {
  it('whose second factor was written by hand', async () => {
    const report = await expectItsFindings('by-hand', byHand(), [
      ...['--path', '/code', '--request', 'POST /code/send', '--verify', 'POST /code code={code}'],
      ...['--inbox', '/inbox', '--route', '/export', '--upgrade', '/live', '--remember', 'remember=on'],
      ...['--change', 'POST /second-factor/remove'],
      ...['--reset', 'POST /accounts/bob/reset'],
      ...['--operator-sign-in', 'POST /login username=olga&password=$OLGA'],
    ])
    expect(findingsIn(report, 'untried')).toEqual(['stricter-gate', 'second-login'])
  })

  it('with passport-totp', async () => {
    const args = ['--path', '/login-otp', '--verify', 'POST /login-otp code={code}', '--route', '/setup']
    const report = await expectItsFindings(
      'passport-totp',
      passportTotp(),
      [...args, '--totp', '$BOBS_APP', '--other-totp', '$MALLORYS_APP'],
      { BOBS_APP: TOTP_SECRETS.bob, MALLORYS_APP: TOTP_SECRETS.mallory },
    )
    expect(findingsIn(report, 'held')).toEqual([
      'open-inbox',
      'code-in-answer',
      'session-fixation',
      'foreign-code',
      'return-address',
      'step-up-window',
      'cross-site-post',
      'wrong-code',
      'sign-out',
    ])
  })

  it('with Countersign and its gate after the routes', async () => {
    const report = await expectItsFindings('late-gate', lateGate(), ['--inbox', INBOX])
    expect(findingsIn(report, 'held')).toEqual([])
  })

  it('with Countersign and a second login', async () => {
    const report = await expectItsFindings('second-login', secondLogin(), ['--inbox', INBOX])
    expect(findingsIn(report, 'untried')).toEqual(['stricter-gate', 'weak-factor', 'reset-race'])
  })
})

describe('countersign attack finds exactly what the README of a naive app lists, by two of something', () => {
  it('in an app with two gates that share a flag (R142)', async () => {
    const report = await expectItsFindings('two-gates', twoGates(), [
      ...['--path', '/code', '--request', 'POST /code/send', '--verify', 'POST /code code={code}'],
      ...['--inbox', INBOX, '--stricter', '/admin', ...skipAllBut('stricter-gate', 'code-in-answer')],
    ])
    expect(findingsIn(report, 'held')).toEqual(['code-in-answer'])
  })

  it('in an app whose pending login has an access token, and one with a refresh token', () =>
    everyCase(['accessToken', 'refreshToken'] as const, async (field) => {
      const skips = skipAllBut('pending-session', 'second-login')
      await expectItsFindings('pending-token', createServer(pendingToken(field)), [
        ...['--inbox', INBOX, '--max-routes', '0', ...skips],
      ])
    }))

  it('but cannot tell about a refresh token that no known path takes', async () => {
    const app = await serve(createServer(pendingToken('refreshToken', '/v7/more')))
    const args = [...USERS, '--max-routes', '0', ...skipAllBut('pending-session')]
    const { code, report } = await runAttack(app, args, PASSWORDS)
    const [found] = report.findings
    expect(found?.reason).toContain(
      'POST /login: its answer has "refreshToken", and no path that exchanges it',
    )
    expect(code).toBe(2)
    const named = await runAttack(app, [...args, '--route', 'POST /v7/more'], PASSWORDS)
    expect(named.report.findings[0]?.verdict).toBe('broken')
  })
})

describe('countersign attack', () => {
  it('has no attack that is not seen to find a defect in a naive app', async () => {
    const app = await serve(createServer((_req, res) => res.end()))
    const { report } = await runAttack(app, USERS, PASSWORDS)
    const seen = await Promise.all(
      ['by-hand', 'passport-totp', 'late-gate', 'second-login', 'two-gates'].map(listedFindings),
    )
    expect(new Set(seen.flat())).toEqual(new Set(report.findings.map(({ attack }) => attack)))
  })

  it('refuses every address that is not, or not only, this machine', async () => {
    for (const address of [
      'http://192.0.2.1',
      'https://example.com',
      'http://localhost.example.com',
      'http://0.0.0.0',
    ]) {
      const { hostname } = new URL(address)
      const { code, err } = await runAttack(address, USERS, PASSWORDS)
      expect(err).toBe(`${hostname} is not this machine, and countersign attack attacks no other.`)
      expect(code).toBe(2)
    }
    const leadsTo =
      (...addresses: string[]) =>
      async () =>
        addresses.map((address) => ({ address }))
    await expect(loopbackAddress('http://app.localhost', leadsTo('127.0.0.1', '192.0.2.1'))).rejects.toThrow(
      'app.localhost is not this machine',
    )
    await expect(loopbackAddress('http://app.localhost', leadsTo())).rejects.toThrow('is not this machine')
    expect((await loopbackAddress('http://app.localhost', leadsTo('127.0.0.1', '::1'))).hostname).toBe(
      'app.localhost',
    )
  })

  it('requests nothing elsewhere, also where the app redirects to', async () => {
    const elsewhere: string[] = []
    const listener: RequestListener = (req, res) => {
      elsewhere.push(req.url ?? '')
      res.end()
    }
    const other = await serve(createServer(listener))
    const app = await serve(
      createServer((_req, res) =>
        res.writeHead(302, { Location: `${other}/login` }).end(`<a href="${other}/a">a</a>`),
      ),
    )
    expect((await runAttack(app, USERS, PASSWORDS)).code).toBe(2)
    expect(elsewhere).toEqual([])
  })

  it('never counts what it could not try as held: it exits with 2 unless --skip names it', async () => {
    const app = await serve(secondLogin())
    const slow = ['pending-session', 'second-login', 'mailbox-flood', 'parallel-guesses', 'session-guesses']
    const args = [...USERS, '--inbox', INBOX, ...slow.flatMap((name) => ['--skip', name])]
    const unknown = await runAttack(app, args, PASSWORDS)
    expect(unknown.report.outcome).toBe('unknown')
    expect(unknown.code).toBe(2)
    const skipped = await runAttack(
      await serve(secondLogin()),
      [...args, '--skip', 'stricter-gate', '--skip', 'weak-factor', '--skip', 'reset-race'],
      PASSWORDS,
    )
    expect(skipped.report.outcome).toBe('held')
    expect(skipped.code).toBe(0)
    expect(findingsIn(skipped.report, 'untried')).toEqual(
      expect.arrayContaining([...slow, 'stricter-gate', 'weak-factor']),
    )
    expect((await runAttack(app, [...args, '--skip', 'nothing'], PASSWORDS)).err).toContain(
      'There is no attack "nothing", only pending-session, ',
    )
  })
})

it('countersign attack shows its progress on a terminal, beside the report', async () => {
  const app = await serve(createServer((_req, res) => res.end()))
  const [first, ...others] = ATTACKS.map(({ name }) => name)
  const args = [app, ...USERS, ...others.flatMap((name) => ['--skip', name])]
  const onTerminal = await runAttackCommand(args, PASSWORDS, true)
  expect(onTerminal.err.split('\n')).toContain(`1 of ${others.length + 1}: ${first}`)
  expect(onTerminal.out).not.toContain(`1 of ${others.length + 1}`)
  expect((await runAttackCommand(args, PASSWORDS)).err).toBe('')
})

describe('countersign attack on an account that is reset while a session of it adds an app (R94)', () => {
  it('holds with the plugin, and finds an app that outlives the reset', () =>
    everyCase(['held', 'broken'] as const, async (verdict) => {
      const kit = mfaTestKit()
      onTestFinished(() => kit.reset())
      const users = testUsers()
      const { app } = host({
        users,
        options: {
          service: kit.service,
          urls: { publicUrl: 'https://vault.example' },
          recovery: { store: memoryStore(), onNotice: () => {}, onFactorsEnded: () => {} },
        },
        first(made) {
          made.get('/inbox', (_req, res) => void res.json(kit.inbox.all()))
          made.post('/mfa/challenge', (_req, _res, next) => {
            kit.clock.advance('3m')
            next()
          })
        },
        routes(made, mfa) {
          const { account } = createMfa(mfa)
          made.post('/desk/reset', async (_req, res) => {
            const bob = users.bob ?? expect.unreachable()
            if (verdict === 'held') await account.reset(bob, { by: 'staff-7', reason: 'Lost phone' })
            res.json({})
          })
        },
      })
      const { code, report } = await runAttack(await serve(createServer(app)), [
        ...['--sign-in', 'POST /login name=bob', '--body', 'json', '--inbox', '/inbox'],
        ...['--protected', '/secret', '--reset', 'POST /desk/reset', ...skipAllBut('reset-race')],
        ...['--operator-sign-in', 'POST /login name=alice'],
      ])
      expect(report.findings.at(-1)).toMatchObject({ attack: 'reset-race', verdict })
      expect(code).toBe(verdict === 'held' ? 0 : 1)
    }))
})

describe('countersign attack on two products of the plugin (R142)', () => {
  it('holds at the strict one, whatever the lenient one lets in, however they are mounted', () =>
    everyCase(LAYOUTS, (layout) =>
      everyCase(
        [
          ['nina', 'require', 'POST /shop/login name=nina'],
          ['bob', { require: 'phishing-resistant' }, 'POST /shop/login name=bob'],
        ] as const,
        async ([, decision, signIn]) => {
          const standIn = standInService()
          const routes = (router: express.Router) =>
            void router.get('/inbox', (_req, res) => void res.json([standIn.newestCode()]))
          const { app } = twoProducts({ layout, standIn, admin: { policy: () => decision }, routes })
          const { code, report } = await runAttack(await serve(createServer(app)), [
            ...['--sign-in', signIn, '--body', 'json', '--path', '/shop/mfa', '--inbox', '/shop/inbox'],
            ...['--protected', '/shop/page', '--stricter', '/admin/page', ...skipAllBut('stricter-gate')],
          ])
          expect(findingsIn(report, 'held')).toEqual(['stricter-gate'])
          expect(code).toBe(0)
        },
      ),
    ))
})

describe('countersign attack on the routes of the plugin', () => {
  it('posts from another site to each that its table has, and to each for users with a factor as a pending login (R13)', async () => {
    const server = secondLogin()
    const seen: { readonly route: string; readonly isForeign: boolean }[] = []
    server.prependListener('request', ({ method, url, headers }) => {
      seen.push({ route: `${method} ${url}`, isForeign: headers.origin === 'null' })
    })
    const skips = skipAllBut('pending-session', 'cross-site-post')
    const args = [...USERS, '--inbox', INBOX, '--max-routes', '0', ...skips]
    const { report } = await runAttack(await serve(server), args, PASSWORDS)
    expect(findingsIn(report, 'held')).toEqual(['pending-session', 'cross-site-post'])
    const addressesOf = (isWanted: (operation: Operation) => boolean) =>
      listRoutes()
        .filter(isWanted)
        .map(({ name }) => Object.values(getRouteAddress('/mfa', name)).join(' '))
    const tried = (isForeign: boolean) =>
      seen.flatMap((request) => (request.isForeign === isForeign ? request.route : []))
    expect(new Set(tried(true))).toEqual(new Set(addressesOf(({ method }) => method === 'POST')))
    const forFactors = addressesOf(({ access }) => access === 'signed-in' || access === 'strongest')
    expect(forFactors.length).toBeGreaterThan(20)
    expect(tried(false)).toEqual(expect.arrayContaining(forFactors))
  })

  it('tries each change of a factor that needs no fields with a weaker factor (R92)', async () => {
    const kit = mfaTestKit()
    onTestFinished(() => kit.reset())
    const { app } = host({
      options: { service: kit.service },
      first: (made) => void made.get('/inbox', (_req, res) => void res.json(kit.inbox.all())),
    })
    const { report } = await runAttack(await serve(createServer(app)), [
      ...['--sign-in', 'POST /login name=alice', '--body', 'json', '--inbox', '/inbox'],
      ...['--protected', '/secret', '--factor', 'sms', ...skipAllBut('weak-factor')],
    ])
    expect(report.findings.find(({ verdict }) => verdict === 'held')).toMatchObject({
      attack: 'weak-factor',
      reason: '/mfa/enroll-app, /mfa/enroll-app/remove, /mfa/backup, /mfa/backup/codes, /mfa/backup/remove',
    })
  })
})

describe('the report of countersign attack', () => {
  it('has a verdict for each promise, in words for a reader', async () => {
    const { report } = await runAttack(await serve(createServer((_req, res) => res.end())), USERS, PASSWORDS)
    const attacks = report.findings.map(({ attack }) => attack)
    const tried = ['second-login', 'code-in-answer']
    const skips = attacks.filter((name) => !tried.includes(name)).flatMap((name) => ['--skip', name])
    const url = await serve(secondLogin())
    const { code, out } = await runAttackCommand([url, ...USERS, '--inbox', INBOX, ...skips], PASSWORDS)
    const width = Math.max(...attacks.map((name) => name.length))
    const lines = report.findings.flatMap(({ attack, promise }) => {
      const [word, reason] =
        attack === 'second-login'
          ? ['BROKEN', '/api/login (form)']
          : attack === 'code-in-answer'
            ? ['held', '2 answers']
            : ['not tried', '--skip leaves it out']
      return [`${word} ${attack} ${promise}`, reason]
    })
    const summary = `Held: 1. Broken: 1. Not tried: ${attacks.length - 2}.`
    expect(out.replace(/\s+/g, ' ')).toBe([...lines, summary].join(' '))
    const reasons = out.split('\n').filter((line) => line.endsWith('  --skip leaves it out'))
    expect(new Set(reasons.map((line) => line.search(/\S/)))).toEqual(new Set([width + 13]))
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(code).toBe(1)
  })

  it('is explained in docs/testing.md: what each attack finds, and which of seven public patterns it answers', async () => {
    const page = await readFile(new URL('../../docs/testing.md', import.meta.url), 'utf8')
    const rowsOf = (heading: string) =>
      (page.split(`| ${heading} |`)[1]?.split('\n\n')[0] ?? '').split('\n').slice(2)
    const namesIn = (cell = '') => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name)
    const { report } = await runAttack(await serve(createServer((_req, res) => res.end())), USERS, PASSWORDS)
    const attacks = report.findings.map(({ attack }) => attack)
    const found = rowsOf('attack | the defect that it finds').flatMap((row) => namesIn(row.split('|')[1]))
    expect(found).toEqual(attacks)
    const patterns = rowsOf('pattern | attacks').map((row) => namesIn(row.split('|')[2]))
    expect(patterns).toHaveLength(7)
    expect(patterns.every((names) => names.length > 0)).toBe(true)
    expect(patterns.flat().sort()).toEqual([...attacks].sort())
  })
})

describe('countersign attack --relay', () => {
  /** Relays the sign-in of bob at an app whose service takes keys that signed for one of these origins. */
  async function relay(originsAt: (own: string) => readonly string[]) {
    let app: RequestListener | undefined
    const url = await serve(createServer((req, res) => app?.(req, res)))
    const kit = mfaTestKit({ relyingParty: { id: 'localhost', origins: originsAt(url) } })
    onTestFinished(() => kit.reset())
    app = host({
      options: { service: kit.service },
      first(made) {
        made.get('/inbox', (_req, res) => void res.json(kit.inbox.all()))
        // Time passes before each further code, as messages are limited.
        made.post('/mfa/challenge', (_req, _res, next) => {
          kit.clock.advance('3m')
          next()
        })
      },
    }).app
    const args = [
      '--sign-in',
      'POST /login name=bob',
      '--protected',
      '/secret',
      '--inbox',
      '/inbox',
      '--relay',
    ]
    const { out: text } = await runAttackCommand([url, ...args])
    const { code, out } = await runAttackCommand([url, ...args, '--json'])
    const factors: readonly Relayed[] = JSON.parse(out)
    return {
      code,
      text,
      relayed: Object.fromEntries(factors.map(({ factor, relayed, reason }) => [factor, [relayed, reason]])),
    }
  }

  it('passes on a code, and no key, because it signs the origin of the phishing page', async () => {
    const { code, text, relayed } = await relay((own) => [own])
    expect(relayed).toEqual({
      code: ['yes', expect.stringMatching(/^typed at http:\/\/localhost:\d+$/)],
      key: ['no', expect.stringMatching(/^signed at http:\/\/localhost:\d+: .*401 invalid_key$/)],
    })
    expect(text).toMatch(/^A phishing page can pass on:\ncode {2}yes {6}typed at .*\nkey {3}no {7}signed at /)
    expect(code).toBe(0)
  })

  it('finds a service that takes keys from every port', async () => {
    const { code, relayed } = await relay(() =>
      Array.from({ length: 2 ** 16 }, (_, port) => `http://localhost:${port}`),
    )
    expect(relayed.key?.[0]).toBe('yes')
    expect(code).toBe(1)
  })
})
