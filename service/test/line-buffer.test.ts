import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { lineBuffer } from '../src/telemetry/log/logger.js'

test('writes the lines of one event loop turn at once and in order', async () => {
  const written: string[] = []
  const out = lineBuffer({ write: (text) => written.push(text) })
  for (const line of ['a\n', 'b\n', 'c\n']) out.write(line)
  expect(written).toEqual([])
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toEqual(['a\nb\nc\n'])
  out.write('d\n')
  out.flush()
  out.flush()
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toEqual(['a\nb\nc\n', 'd\n'])
})

test.each([
  ['exits', 'process.exit(3)'],
  ['crashes', 'throw new Error("broken")'],
])('loses no line when the process %s in the same turn', async (_how, end) => {
  const module = fileURLToPath(new URL('../dist/parts.js', import.meta.url))
  const script = `import { lineBuffer } from ${JSON.stringify(module)}
    const out = lineBuffer(process.stdout)
    process.on('exit', out.flush)
    for (let i = 0; i < 1000; i++) out.write('line ' + i + '\\n')
    ${end}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  await new Promise((resolve) => child.once('close', resolve))
  expect(text.trim().split('\n')).toHaveLength(1_000)
})
