import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)
const BENCH = fileURLToPath(new URL('../../bench/transcription-streams.mjs', import.meta.url))

test('the memory of a service stays flat over many transcription streams, also of callers who leave', async () => {
  const { stdout } = await run(process.execPath, [BENCH, '--streams', '100', '--at-once', '20'], {
    timeout: 300_000,
  })
  expect(stdout.match(/^\d+ streams: heap .* 0 sockets$/gm)).toHaveLength(5)
  expect(stdout).toMatch(/The heap grew by -?\d\.\d MB after the first 20 streams/)
}, 300_000)
