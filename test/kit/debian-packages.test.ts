import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { missingReport } from './debian-packages.js'

it('says once what is skipped for want of a package, and how to install it', () => {
  const lacks = ['redis-server', 'ffmpeg']
  expect(missingReport((name) => !lacks.includes(name))).toBe(
    [
      'Skipped, because Debian packages are missing:',
      '  redis-server: sessions, limits and devices in Redis',
      '  ffmpeg: transcription',
      'To run everything: apt-get install redis-server ffmpeg',
    ].join('\n'),
  )
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
