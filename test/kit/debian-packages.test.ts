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
