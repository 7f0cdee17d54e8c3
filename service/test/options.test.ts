import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createService, developmentSecret, type FaultsError, readEnvironment } from '@countersign/service'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { clientNetwork } from '../src/contacts/client-network.js'
import { mayBeCalled } from '../src/contacts/phone.js'
import { readOptions, type ServiceOptions } from '../src/options.js'
import { openStore } from '../src/store/open.js'
import { rejection, SECRET } from './kit.js'

afterEach(() => vi.unstubAllEnvs())

function faultsOf(options: unknown): readonly string[] {
  try {
    readOptions(options as ServiceOptions)
  } catch (error) {
    return (error as FaultsError).faults
  }
  return []
}

describe('options', () => {
  test('are complete afterwards, every number at its default', () => {
    const { limits, applicationName, locale } = readOptions({ secret: SECRET, delivery: 'inbox' })
    expect({ applicationName, locale }).toEqual({ applicationName: 'Countersign', locale: 'en' })
    expect(limits).toMatchObject({
      codeDigits: 6,
      codeLifeSeconds: 300,
      maxTries: 5,
      lockAfter: 10,
      lockSeconds: 1_800,
      disableAfter: 100,
    })
  })

  test('are faulted all together, each with what would be right (R18)', async () => {
    const error = await rejection(
      createService({
        secret: 'short',
        delivery: 'email=pigeon://x,fax=inbox',
        databaseUrl: 'mysql://x',
        apiKey: 'with space in it long',
        applicationName: '',
        origin: 'https://vault.example',
        limits: { maxTries: 50, lockSeconds: 1, codeDigits: 4.5 },
        colour: 'red',
      } as ServiceOptions),
    )
    expect(error).toMatchObject({ code: 'ERR_SERVICE_OPTIONS', name: 'FaultsError' })
    for (const word of [
      'secret',
      'pigeon:',
      'fax',
      'databaseUrl',
      'apiKey',
      'applicationName',
      'origin',
      'maxTries',
      'lockSeconds',
      'codeDigits',
      'colour',
    ]) {
      expect(error.message).toContain(word)
    }
    expect(error.message).not.toContain('short')
  })

  test.each([[undefined], [null], [5], [{}], [[]]])('%j is no options', (options) => {
    expect(faultsOf(options).length).toBeGreaterThan(0)
  })

  test('may have a secret that the environment lacks, for the compiler alone', () => {
    const options: ServiceOptions = {
      databaseUrl: process.env.NONE,
      secret: process.env.NONE,
      delivery: 'inbox',
    }
    expect(faultsOf(options)).toEqual([
      expect.stringMatching(/^secret must be text: .*is SERVICE_SECRET set/),
    ])
  })

  test('that name no place are told that nothing is kept, and those that want just that are not', async () => {
    const warningsOf = async (place: { dataDir?: string }) => {
      const events: string[] = []
      const logger = ({ event }: { readonly event: string }) => void events.push(event)
      await (await createService({ ...place, secret: SECRET, delivery: 'inbox', logger })).close()
      return events
    }
    expect(await warningsOf({})).toContain('store.memory')
    expect(await warningsOf({ dataDir: 'memory://' })).not.toContain('store.memory')
  })

  test('the inbox is refused in production', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(faultsOf({ secret: SECRET, delivery: 'inbox' }).join()).toContain('in production')
    expect(
      faultsOf({ secret: SECRET, delivery: { email: 'smtp://x?from=a@b.example', sms: 'inbox' } }).join(),
    ).toContain('in production')
    expect(faultsOf({ secret: SECRET, delivery: 'https://hook.example' })).toEqual([])
  })
})

describe('the environment', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-env-'))
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  test('tells in one sentence that a data folder cannot be used', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-no-folder-'))
    const file = join(folder, 'file')
    writeFileSync(file, 'no folder')
    const refused = {
      code: 'ERR_SERVICE_OPTIONS',
      faults: [expect.stringMatching(/^The data folder \(DATA_DIR\) cannot/)],
    }
    expect(() => developmentSecret(file)).toThrow(expect.objectContaining(refused))
    expect(await rejection(openStore({ dataDir: file }))).toMatchObject(refused)
    rmSync(folder, { recursive: true })
  })

  test('needs nothing outside production: a secret is made once, for its owner alone', () => {
    const first = readEnvironment({ DATA_DIR: folder }, { dataDir: '.data' })
    expect(first.port).toBe(4000)
    expect(first.options).toMatchObject({ dataDir: folder, delivery: 'inbox' })
    expect(first.warnings.join()).toContain('SERVICE_SECRET')
    expect(statSync(join(folder, 'secret')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(folder, 'secret'), 'utf8').trim()).toBe(first.options.secret)
    expect(developmentSecret(folder)).toBe(first.options.secret)
  })

  test('must name secret and delivery in production', () => {
    const read = () => readEnvironment({ NODE_ENV: 'production', SERVICE_PORT: 'http' }, { dataDir: folder })
    expect(read).toThrow(/SERVICE_PORT[\s\S]*SERVICE_SECRET[\s\S]*SERVICE_DELIVERY/)
  })

  test('tells everything that is wrong with it in one go, by the names of the variables', () => {
    const wrong = {
      NODE_ENV: 'production',
      SERVICE_PORT: 'http',
      SERVICE_MAX_TRIES: '99',
      DATABASE_URL: 'mysql://x',
      SERVICE_SECRET: 'short',
      SERVICE_SECRET_PREVIOUS: 'short',
      SERVICE_API_KEY: 'short',
      SERVICE_APPLICATION_NAME: 'x'.repeat(41),
      SERVICE_ORIGIN: 'https://vault.example',
      SERVICE_DELIVERY: 'sms=smtp://mail.example',
      SERVICE_WEBHOOK_SECRET: 'short',
      SERVICE_PUBLIC_URL: 'vault.example',
      SERVICE_METRICS_KEY: 'short',
      SERVICE_TRANSCRIBER: 'magic',
      SERVICE_TRANSCRIBE_HOSTS: 'http://a/b',
    }
    let faults: readonly string[] = []
    try {
      readEnvironment(wrong, { dataDir: folder })
    } catch (error) {
      faults = (error as FaultsError).faults
    }
    const { NODE_ENV: _mode, ...named } = wrong
    expect(faults.map((fault) => fault.split(/[ .]/)[0]).sort()).toEqual(Object.keys(named).sort())
  })

  test('says which notices are written, each or none', () => {
    const read = (SERVICE_NOTICES: string) =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_NOTICES }, { dataDir: folder }).options
    expect(read('locked, backup-used').notices).toEqual(['locked', 'backup-used'])
    expect(read('none').notices).toEqual([])
    expect(readOptions(read('')).notices).toEqual(['locked', 'app-bound', 'backup-made', 'backup-used'])
    expect(() => read('locked,none')).toThrow('SERVICE_NOTICES must be "none", or of locked, app-bound')
  })

  test('sets every limit', () => {
    const { options } = readEnvironment(
      {
        SERVICE_SECRET: SECRET,
        SERVICE_MAX_TRIES: '3',
        SERVICE_LOCK_AFTER: '5',
        SERVICE_SENDS_PER_10_MIN: '2',
        SERVICE_CODE_LIFE_SECONDS: '60',
      },
      { dataDir: folder },
    )
    expect(options.limits).toEqual({ maxTries: 3, lockAfter: 5, sendsPer10Minutes: 2, codeLifeSeconds: 60 })
    expect(() =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_MAX_TRIES: 'many' }, { dataDir: folder }),
    ).toThrow('SERVICE_MAX_TRIES')
    expect(() =>
      readEnvironment({ SERVICE_SECRET: SECRET, SERVICE_LOCK_SECONDS: '60' }, { dataDir: folder }),
    ).toThrow('SERVICE_LOCK_SECONDS must be a whole number of seconds from 900 to 86400')
  })
})

test.each([
  ['+447911123456', true],
  ['+447700900123', true],
  ['+12025550123', true],
  ['+4915112345678', true],
  ['+448081570000', false],
  ['+19005550123', false],
  ['+10000000000', false],
  ['+5511876543', false],
])('whether %s may be called: %s', (phone, may) => {
  expect(mayBeCalled(phone)).toBe(may)
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:DB8:0:0:1:2:3:4', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('the network of %s is %s (R31)', (address, network) => {
  expect(clientNetwork(address)).toBe(network)
})
