import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { emptyDatabase, unpackTar } from '../src/store/empty-database.js'

const { path: root, remove } = temporaryFolder()
afterAll(remove)

test('unpacks the prepared database completely, with empty folders, readable only by this user', async () => {
  const tar = await emptyDatabase()
  const folder = join(root, 'database')
  unpackTar(tar ?? Buffer.alloc(0), folder)

  const found = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))
  const folders = [
    folder,
    ...found.filter((one) => one.isDirectory()).map((one) => join(one.parentPath, one.name)),
  ]
  // Everything in the tar file except for headers, padding and the two blocks at the end.
  const blocks = files.reduce((sum, file) => sum + Math.ceil(statSync(file).size / 512), 0)
  expect((blocks + found.length + 2) * 512).toBe(tar?.length)
  expect(readFileSync(join(folder, 'PG_VERSION'), 'utf8')).toMatch(/^\d+\n$/)
  expect(readdirSync(join(folder, 'pg_notify'))).toEqual([])
  expect(new Set(files.map((file) => statSync(file).mode & 0o777))).toEqual(new Set([0o600]))
  expect(new Set(folders.map((one) => statSync(one).mode & 0o777))).toEqual(new Set([0o700]))
})
