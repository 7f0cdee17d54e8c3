import { existsSync } from 'node:fs'

/** The Debian packages that tests need beyond npm: a file of each, and what is skipped without it. */
const PACKAGES = {
  'chromium-headless-shell': {
    files: ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'],
    skips: 'journeys in a browser, accessibility, the script of the pages',
  },
  'firefox-esr': {
    files: ['/usr/bin/firefox-esr'],
    skips: 'every page, sign-in, enrollment, passkeys, recovery and step-up in Firefox',
  },
  faketime: {
    files: ['x86_64', 'aarch64'].map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`),
    skips: 'journeys that move the clock of a process',
  },
  'redis-server': { files: ['/usr/bin/redis-server'], skips: 'sessions, limits and devices in Redis' },
  'redis-sentinel': { files: ['/usr/bin/redis-sentinel'], skips: 'Redis Cluster and Redis Sentinel' },
  postgresql: { files: ['/usr/lib/postgresql/15/bin/postgres'], skips: 'everything on PostgreSQL' },
  'nginx-light': {
    files: ['/usr/sbin/nginx', '/usr/bin/nginx'],
    skips: 'the recipe with two processes behind nginx',
  },
  pgbouncer: { files: ['/usr/sbin/pgbouncer'], skips: 'the service behind a connection pooler' },
  prometheus: { files: ['/usr/bin/promtool'], skips: 'that each alert fires and ends' },
  openssl: {
    files: ['/usr/bin/openssl', '/usr/local/bin/openssl', '/opt/homebrew/bin/openssl'],
    skips: 'TLS of the client and of mail',
  },
  ffmpeg: { files: ['/usr/bin/ffmpeg', '/usr/local/bin/ffmpeg'], skips: 'transcription' },
  pocketsphinx: { files: ['/usr/bin/pocketsphinx_continuous'], skips: 'transcription' },
  'pocketsphinx-en-us': { files: ['/usr/share/pocketsphinx/model/en-us'], skips: 'transcription' },
  'python3-pocketsphinx': {
    files: ['/usr/lib/python3/dist-packages/pocketsphinx/__init__.py'],
    skips: 'realtime transcription',
  },
  'pocketsphinx-testdata': {
    files: ['/usr/share/pocketsphinx/test/data/goforward.raw'],
    skips: 'transcription',
  },
} as const satisfies Record<string, { readonly files: readonly string[]; readonly skips: string }>

export type DebianPackage = keyof typeof PACKAGES

/** The first file of a package that exists on this machine. */
export function fileOf(name: DebianPackage): string | undefined {
  return PACKAGES[name].files.find((file) => existsSync(file))
}

/** Why tests that need these packages are skipped; `undefined` when they run. In CI a missing package is an error. */
export function missing(...names: DebianPackage[]): string | undefined {
  const absent = names.filter((name) => fileOf(name) === undefined)
  if (absent.length === 0) return undefined
  const reason = `not installed: apt-get install ${absent.join(' ')}`
  if (process.env.CI) throw new Error(reason)
  return reason
}

/** The missing packages with what they would test, as a table for the end of a test run; empty if nothing is missing. */
export function missingReport(isThere = (name: DebianPackage) => fileOf(name) !== undefined): string {
  const absent = (Object.keys(PACKAGES) as DebianPackage[]).filter((name) => !isThere(name))
  if (absent.length === 0) return ''
  const width = Math.max(...absent.map((name) => name.length), 'PACKAGE'.length) + 2
  return [
    'Not tested, because Debian packages are missing:',
    `  ${'PACKAGE'.padEnd(width)}WHAT IT WOULD TEST`,
    ...absent.map((name) => `  ${name.padEnd(width)}${PACKAGES[name].skips}`),
    `To test everything: apt-get install ${absent.join(' ')}`,
  ].join('\n')
}
