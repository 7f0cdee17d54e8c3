import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { APART } from '../vitest.config.js'

it('every test file that replaces a module has a process of its own, and no other one', () => {
  const files = ['test', 'service/test', 'example-app/test'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  const replacing = files.filter(
    (file) => file.endsWith('.test.ts') && /^\s*vi\.(mock|doMock)\(/m.test(readFileSync(file, 'utf8')),
  )
  expect(replacing.sort()).toEqual([...APART].sort())
})
