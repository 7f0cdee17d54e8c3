import { readdir, readFile, stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { PAGE_ROUTES } from '../../src/console/console.js'

const DOCS = new URL('../../docs/', import.meta.url)
const MAX_BYTES = 60_000

/** How the documentation names the pages whose addresses name them differently. */
const NAMES: Readonly<Record<string, string>> = {
  '/console': 'Overview',
  '/console/applications/:application': 'Settings',
  '/console/applications/:application/keys': 'API keys',
  '/console/applications/:application/locked': 'Locked users',
  '/console/applications/:application/webhook': 'Delivery webhook',
  '/console/applications/:application/messages/:id/user': 'Users',
  '/console/audit': 'Audit log',
  '/console/health': 'Health and numbers',
  '/console/approvals': 'Consents',
}

const docs = await readFile(new URL('console.md', DOCS), 'utf8')

test('describes every page of the console', () => {
  const paths = PAGE_ROUTES.filter(({ method, path }) => method === 'get' && /^[a-z/:]+$/.test(path)).map(
    ({ path }) => path,
  )
  expect(paths.length).toBeGreaterThan(12)
  const described = [...docs.matchAll(/\*\*([^*]+)\*\*/g)].map(([, name]) => String(name).toLowerCase())
  const missing = paths.filter((path) => {
    const name = NAMES[path] ?? path.split('/').findLast((part) => !part.startsWith(':')) ?? ''
    return !described.includes(name.toLowerCase())
  })
  expect(missing).toEqual([])
})

test('shows screenshots that exist, are small, and have a description', async () => {
  const shown = [...docs.matchAll(/!\[([^\]]*)\]\(screens\/([a-z-]+\.webp)\)/g)]
  expect(shown.map(([, , name]) => name).sort()).toEqual((await readdir(new URL('screens/', DOCS))).sort())
  for (const [, description = '', name = ''] of shown) {
    expect(description.length).toBeGreaterThan(20)
    const { size } = await stat(new URL(`screens/${name}`, DOCS))
    expect([name, size > 1_000 && size < MAX_BYTES]).toEqual([name, true])
  }
})
