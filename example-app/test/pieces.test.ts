import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localPath } from '../src/http/local-path.js'
import { pgliteDatabase } from '../src/store/database.js'
import { hashPassword, passwordMatches } from '../src/store/passwords.js'
import { createTables } from '../src/store/tables.js'
import { usersIn } from '../src/store/users.js'
import { contact } from '../src/views/contact.js'
import { html } from '../src/views/html.js'

describe('a return address', () => {
  it.each(['/vault', '/vault?a=1#b', '/a//b', '/%2f%2fevil.example'])('may be %s', (path) => {
    expect(localPath(path)).toBe(path)
  })
  it.each([
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/.//evil.example',
    'https://evil.example',
    '',
    undefined,
    7,
  ])('is never %j', (target) => {
    expect(localPath(target)).toBe('/')
  })
})

describe('a template', () => {
  it('escapes what it is given and keeps its own markup', () => {
    const inner = html`<b title="${'"&'}">${'<script>'}</b>`
    expect(html`<p>${inner}${[1, inner]}${null}${false}</p>`.markup).toBe(
      '<p><b title="&quot;&amp;">&lt;script&gt;</b>1<b title="&quot;&amp;">&lt;script&gt;</b></p>',
    )
  })
})

describe('a contact on a page', () => {
  it('may end its line at its joints', () => {
    expect(contact('ann<a@vault.example').markup).toBe('ann&lt;a@<wbr>vault<wbr>.example')
    expect(contact('+12025550122').markup).toBe('+12025550122')
  })
})

describe('a kept password', () => {
  it('is salted, and matched by itself alone', async () => {
    const [one, two] = [await hashPassword('correct horse'), await hashPassword('correct horse')]
    expect(one).not.toBe(two)
    expect(await passwordMatches('correct horse', one)).toBe(true)
    expect(await passwordMatches('correct house', one)).toBe(false)
    expect(await passwordMatches('', undefined)).toBe(false)
  })

  it('matches however the keyboard composes letters', async () => {
    const kept = await hashPassword('caf\u00e9 cr\u00e8me')
    expect(await passwordMatches('cafe\u0301 cre\u0300me', kept)).toBe(true)
  })
})

describe('the folder of the embedded database', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vault-folder-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('keeps people over a restart', async () => {
    const nora = {
      username: 'Nora',
      name: 'Nora',
      email: 'nora@vault.example',
      phone: null,
      methods: ['email'],
      password: 'nora-opens-vault',
      balance: 5,
    } as const
    const first = await pgliteDatabase(folder)
    await createTables(first)
    await usersIn(first).add(nora)
    await first.close()
    const second = await pgliteDatabase(folder)
    await createTables(second)
    expect(await usersIn(second).add(nora)).toBeUndefined()
    expect(await usersIn(second).signIn('nora', nora.password)).toMatchObject({
      username: 'nora',
      methods: ['email'],
    })
    await second.close()
  })

  it('belongs to one process at a time', async () => {
    const first = await pgliteDatabase(folder)
    await expect(pgliteDatabase(folder)).rejects.toThrow(/is in use by process \d+/)
    await first.close()
  })
})
