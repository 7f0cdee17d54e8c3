import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { reportersOf } from '../../vitest.config.js'
import { missingReport } from './debian-packages.js'

it('says once, in a table, what is not tested for want of a package, and how to install it', () => {
  const lacks = ['redis-server', 'ffmpeg']
  expect(missingReport((name) => !lacks.includes(name))).toBe(
    [
      'Not tested, because Debian packages are missing:',
      '  PACKAGE       WHAT IT WOULD TEST',
      '  redis-server  sessions, limits and devices in Redis',
      '  ffmpeg        transcription',
      'To test everything: apt-get install redis-server ffmpeg',
    ].join('\n'),
  )
})

it('is reported at the end of a run, in CI too', () => {
  for (const env of [{}, { CI: 'true' }]) {
    expect(reportersOf(env)).toContain('./test/kit/missing-packages-reporter.ts')
  }
})

it('says nothing when nothing is missing', () => {
  expect(missingReport(() => true)).toBe('')
})

it('names only packages that CI installs', () => {
  const script = readFileSync(new URL('../../.ci/run', import.meta.url), 'utf8')
  // openssl comes with the certificates that git needs.
  const report = missingReport((name) => name === 'openssl')
  const all = report.split('apt-get install ')[1]?.split(' ') ?? []
  expect(all).toContain('ffmpeg')
  expect(all.filter((name) => !script.includes(`missing+=(${name})`))).toEqual([])
})
