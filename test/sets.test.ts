import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'

const tests = ['test', 'service/test', 'example-app/test']
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))

it('every test file that replaces a module has a process of its own, and no other one', () => {
  const replacing = tests.filter((file) => /^\s*vi\.(mock|doMock)\(/m.test(readFileSync(file, 'utf8')))
  expect(replacing).toEqual(tests.filter((file) => file.endsWith('.apart.test.ts')))
  expect(replacing.length).toBeGreaterThan(0)
})

it('the name of a test file has the name of its set before the ending, or no other dot', () => {
  const sets = tests.map((file) => basename(file, '.test.ts').split('.').slice(1).join('.'))
  expect([...new Set(sets)].sort()).toEqual(['', 'apart', 'at-once', 'every-page', 'operation'])
})
