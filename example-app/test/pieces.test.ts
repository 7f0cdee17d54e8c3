import { scryptSync } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { temporaryFolder } from '../../test/kit/temporary-folder.js'
import { localPath } from '../src/http/local-path.js'
import { pgliteDatabase } from '../src/store/database.js'
import { scryptPasswords } from '../src/store/passwords.js'
import { resetRequests } from '../src/store/reset-requests.js'
import { createTables } from '../src/store/tables.js'
import { usersIn } from '../src/store/users.js'
import { contact } from '../src/views/contact.js'
import { html } from '../src/views/html.js'
import { quickPasswords } from './kit.js'

describe('a request for a reset', () => {
  it('is approved once, and never by the member of staff who made it', () => {
    const requests = resetRequests()
    const { id } = requests.add({ username: 'bob', reason: 'Lost phone', by: 'otto' })
    expect(requests.takeToApprove(id, 'otto')).toBeUndefined()
    expect(requests.takeToApprove(id, 'alice')).toMatchObject({ username: 'bob', by: 'otto' })
    expect(requests.takeToApprove(id, 'alice')).toBeUndefined()
    expect(requests.list()).toEqual([])
  })
})

describe('a return address', () => {
  it('can be a path of this site', () =>
    everyCase(['/vault', '/vault?a=1#b', '/a//b', '/%2f%2fevil.example'], (path) => {
      expect(localPath(path)).toBe(path)
    }))
  it('is never anything else', () =>
    everyCase(
      [
        '//evil.example',
        '/\\evil.example',
        '/\t/evil.example',
        '/.//evil.example',
        'https://evil.example',
        '',
        undefined,
        7,
      ],
      (target) => {
        expect(localPath(target)).toBe('/')
      },
    ))
})

describe('a template', () => {
  it('escapes values and keeps its own markup', () => {
    const inner = html`<b title="${'"&'}">${'<script>'}</b>`
    expect(html`<p>${inner}${[1, inner]}${null}${false}</p>`.markup).toBe(
      '<p><b title="&quot;&amp;">&lt;script&gt;</b>1<b title="&quot;&amp;">&lt;script&gt;</b></p>',
    )
  })
})

describe('a contact on a page', () => {
  it('can wrap after the at sign and before a dot', () => {
    expect(contact('ann<a@vault.example').markup).toBe('ann&lt;a@<wbr>vault<wbr>.example')
    expect(contact('+12025550122').markup).toBe('+12025550122')
  })
})

describe('a stored password', () => {
  const { hash, matches } = quickPasswords

  it('is salted, and matches only itself', async () => {
    const [one, two] = [await hash('correct horse'), await hash('correct horse')]
    expect(one).not.toBe(two)
    expect(await matches('correct horse', one)).toBe(true)
    expect(await matches('correct house', one)).toBe(false)
    expect(await matches('', undefined)).toBe(false)
  })

  it('matches composed and decomposed characters alike', async () => {
    const kept = await hash('caf\u00e9 cr\u00e8me')
    expect(await matches('cafe\u0301 cre\u0300me', kept)).toBe(true)
  })

  it('is hashed with the cost factors that OWASP recommends', async () => {
    const [, salt = '', key] = (await scryptPasswords().hash('correct horse')).split('$')
    const owasp = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
    const derived = scryptSync('correct horse', Buffer.from(salt, 'base64url'), 32, owasp)
    expect(key).toBe(derived.toString('base64url'))
  })
})

describe('the folder of the embedded database', () => {
  const { path: folder, remove } = temporaryFolder()
  afterAll(remove)

  it('keeps users across a restart', async () => {
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
