import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import speakeasy from 'speakeasy'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../../test/kit/every-case.js'
import { temporaryFolder } from '../../../test/kit/temporary-folder.js'
import { run } from '../../src/cli/program.js'
import { createService } from '../../src/run/create-service.js'
import { SECRET } from '../kit.js'
import { postgresMissing, startPostgres } from '../postgres.js'

const SAMPLE = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const TIMEOUT_MS = 120_000

/** 10,000 users: strong and weak secrets in several spellings, every form of code, users without an app, and broken rows. */
function mixedRows() {
  const samples: { readonly account: string; readonly token: () => string }[] = []
  const secrets: string[] = []
  const rows = Array.from({ length: 10_000 }, (_, nr) => {
    const account = `user-${nr}`
    const kind = nr % 10
    if (kind === 7) return JSON.stringify({ account })
    if (kind === 8) return JSON.stringify({ account, secret: 'KRSXG5CTMVRXEZLU8' })
    if (kind === 9) return `{"account":"${account}","secret":"KRSXG5CTMVRXEZLU`
    const { base32, ascii } = speakeasy.generateSecret({ length: kind === 6 ? 10 : 20, otpauth_url: false })
    secrets.push(base32, ascii)
    const algorithm = (['sha1', 'sha256', 'sha512'] as const)[nr % 3]
    const digits = kind % 2 === 0 ? 6 : 8
    const step = kind < 3 ? 30 : 60
    const form = { secret: base32, encoding: 'base32', algorithm, digits, step } as const
    if (nr % 997 === 0) samples.push({ account, token: () => speakeasy.totp(form) })
    const spaced = base32.toLowerCase().replace(/(.{4})/g, '$1 ')
    return JSON.stringify({ account, secret: kind === 1 ? spaced : base32, algorithm, digits, period: step })
  })
  return { text: rows.join('\n'), samples, secrets }
}

describe.skipIf(postgresMissing)('the command import', () => {
  const { path: folder, remove } = temporaryFolder()
  const env = { DATABASE_URL: '', DATA_DIR: folder, SERVICE_SECRET: SECRET }
  let postgres: Awaited<ReturnType<typeof startPostgres>>
  beforeAll(async () => {
    // Each command opens the database, which takes PGlite more than a second.
    postgres = await startPostgres()
    env.DATABASE_URL = postgres.url
    await cli('migrate')
  })
  afterAll(async () => {
    await postgres?.stop()
    remove()
  })

  async function cli(...args: string[]) {
    const printed = { out: '', err: '' }
    const code = await run(args, {
      env,
      out(text) {
        printed.out += `${text}\n`
      },
      err(text) {
        printed.err += `${text}\n`
      },
    })
    return { code, ...printed }
  }

  function file(name: string, text: string): string {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  test(
    'imports 10,000 mixed rows at once, and nothing of a secret is in what it prints',
    async () => {
      const { text, samples, secrets } = mixedRows()
      const path = file('users.jsonl', text)
      await cli('app', 'create', 'vault', 'countries=GB')
      const command = ['import', 'vault', path, '--from', 'speakeasy', '--json']
      const planned = await cli(...command, '--allow-weak', '--dry-run')
      expect(planned.err).toContain('Nothing was changed')
      const strong = await cli(...command)
      expect(JSON.parse(strong.out)).toMatchObject({ imported: 6_000, unchanged: 0, absent: 1_000, weak: [] })
      const whole = await cli(...command, '--allow-weak')
      const report = JSON.parse(whole.out)
      expect(report).toMatchObject({ imported: 1_000, unchanged: 6_000, absent: 1_000 })
      expect(JSON.parse(planned.out)).toEqual({ ...report, imported: 7_000, unchanged: 0 })
      expect(report.weak).toHaveLength(1_000)
      expect(report.refused).toHaveLength(2_000)
      expect(report.refused.slice(0, 2)).toMatchObject([
        { line: 9, code: 'secret' },
        { line: 10, code: 'unreadable' },
      ])
      const again = await cli('import', 'vault', path, '--from', 'speakeasy', '--allow-weak')
      expect(again.out).toMatch(/imported +0\nunchanged +7000\nrefused +2000\n/)
      const doctor = await cli('doctor')
      expect(doctor.out).toContain('Imported secrets of fewer than 128 bits in "vault": 1000.')
      const printed = [planned, strong, whole, again, doctor].map(({ out, err }) => out + err).join('')
      expect(printed).not.toMatch(/KRSXG5|user-\d/)
      expect(secrets.filter((secret) => printed.includes(secret.slice(0, 8)))).toEqual([])

      const events: unknown[] = []
      const service = await createService({
        ...{ databaseUrl: env.DATABASE_URL, secret: SECRET, delivery: 'inbox' },
        logger: (event) => void events.push(event),
      })
      const contact = { kind: 'email', email: 'nobody@account.invalid' } as const
      const { importFactors, listAudit } = service.operator('ann')
      expect(await importFactors({ application: 'default', from: 'speakeasy', text })).toMatchObject({
        imported: 6_000,
      })
      for (const { account, token } of samples) {
        const wasWeak = Number(account.slice(5)) % 10 === 6
        const code = token()
        const { outcome } = await service.mfa.verify({ method: 'app', contact, account, code, kind: 'code' })
        expect([account, outcome]).toEqual([account, wasWeak ? 'invalid' : 'valid'])
      }
      const audit = JSON.stringify([await listAudit({ limit: 100 }), events])
      expect(secrets.filter((secret) => audit.includes(secret.slice(0, 8)))).toEqual([])
      await service.close()
    },
    TIMEOUT_MS,
  )

  test(
    'ends with 1 and a reason for each row where nothing was imported, and with 0 where everything was there before',
    async () => {
      await cli('app', 'create', 'empty', 'countries=GB')
      const secret = SAMPLE
      await everyCase(
        [
          { text: `7,${secret}\n8,${secret}\n`, lines: ['2 absent'] },
          { text: `7,${secret}\n`, lines: ['1 no_rows'] },
          { text: '', lines: ['1 no_rows'] },
          { text: '[]', lines: ['1 no_rows'] },
          { text: `konto,geheimnis\n7,${secret}\n8,${secret}\n`, lines: ['2 absent', '3 absent'] },
          { text: `account,secret\n7,123\n8,\n`, lines: ['2 secret', '3 absent'] },
        ],
        async ({ text, lines }) => {
          const command = ['import', 'empty', file('nothing.csv', text), '--from', 'csv']
          await everyCase([[], ['--dry-run']], async (more) => {
            const { code, out, err } = await cli(...command, ...more, '--json')
            expect([code, err]).toEqual([1, expect.stringContaining('error: Nothing was imported.')])
            const { refused, remarks } = JSON.parse(out)
            const said = [...refused, ...remarks].map((row) => `${row.line} ${row.code}`)
            expect(said).toEqual(lines)
          })
          const { out } = await cli(...command)
          expect(out).toMatch(lines.length === 1 ? /no_rows|absent/ : /--from, and the heading/)
          expect(out).not.toContain(secret)
        },
      )
      const path = file('one.csv', `account,secret\n7,${secret}\n8,\n`)
      await everyCase([/imported +1\n/, /unchanged +1\n/], async (line) => {
        const { code, out } = await cli('import', 'empty', path, '--from', 'csv')
        expect([code, out]).toEqual([0, expect.stringMatching(line)])
        expect(out).not.toContain('heading')
      })
    },
    TIMEOUT_MS,
  )

  test(
    'refuses a missing file, an unknown system and an unset variable, and reads CSV of any application',
    async () => {
      await cli('app', 'create', 'shop', 'countries=GB')
      const path = file('users.csv', 'id,mail,secret\n7,ann@example.com,JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP\n')
      expect(await cli('import', 'shop', `${path}.no`, '--from', 'csv')).toMatchObject({
        code: 1,
        err: expect.stringContaining('ENOENT'),
      })
      expect(await cli('import', 'shop', path, '--from', 'cognito')).toMatchObject({ code: 2 })
      expect(await cli('import', 'none', path, '--from', 'csv')).toMatchObject({
        code: 1,
        err: expect.stringContaining('does not exist'),
      })
      const missing = await cli('import', 'shop', path, '--from', 'better-auth', '--secret-env', 'NO_SECRET')
      expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('NO_SECRET') })
      const unnamed = await cli('import', 'shop', path, '--from', 'csv', '--json')
      expect(JSON.parse(unnamed.out).refused).toMatchObject([{ line: 2, code: 'account' }])
      expect((await cli('import', 'shop', path, '--from', 'csv', '--account-field', 'id')).out).toMatch(
        /imported +1\n/,
      )
      expect((await cli('import', 'shop', path, '--from', 'csv', '--user-field', 'mail')).out).toMatch(
        /imported +1\n/,
      )
      const shown = await cli('user', 'show', 'shop', 'ann@example.com')
      expect(shown.out).toMatch(/authenticator app +(set up|yes|confirmed)/)
    },
    TIMEOUT_MS,
  )
})
