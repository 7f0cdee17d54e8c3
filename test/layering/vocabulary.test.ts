import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { WARNING_CODES } from '../../src/options/warnings.js'
import { NOTICE_TYPES } from '../../src/pages/notices/notice.js'
import { PROBLEM_CODES } from '../../src/web/http/problem.js'
import { everyCase } from '../kit/every-case.js'

/** Terms that the glossary replaces with a standard term. */
const REPLACED = new Set(
  'belief believe claim counts cutoff deed desk doctor door enrol enrolment finding findings half halfway house letter place proof rehearsal road roads room shelf slot somebody spend staged standing tell ticket told tries unbelievable unclaim undo visit visitor wall way ways whoever'.split(
    ' ',
  ),
)

/** The credential with which a browser opens a WebSocket is called a ticket in the field. */
const ALLOWED = new Set(['STREAM_TICKET', 'StreamTicket', 'streamTicketAnswer'])

/** The words of a name: `pendingLoginMs` and `PENDING_LOGIN` alike. */
const wordsOf = (name: string) =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)

const replacedIn = (names: Iterable<string>) =>
  [...names].filter((name) => !ALLOWED.has(name) && wordsOf(name).some((word) => REPLACED.has(word)))

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The names between the braces of a file's `export { … }` statements. */
async function exportedNames(path: string): Promise<string[]> {
  const statements = [...(await read(path)).matchAll(/export (?:type )?\{([^}]*)\}/g)]
  return statements.flatMap(([, list = '']) =>
    list.split(',').map((name) => name.replace(/^.*\bas\b|\btype\b/, '').trim()),
  )
}

/** The members of the interfaces and classes in a file. */
async function membersIn(path: string): Promise<string[]> {
  return [...(await read(path)).matchAll(/^ {2,}(?:readonly )?(\w+)(?:\??:| =)/gm)].map(
    ([, name = '']) => name,
  )
}

describe('public names', () => {
  it('use the terms of the glossary in all exports', () =>
    everyCase(
      [
        'src/index.ts',
        'src/pages/browser/index.ts',
        'src/protocol/index.ts',
        'src/speech/index.ts',
        'src/testing/index.ts',
        'service/src/index.ts',
      ],
      async (path) => {
        const names = await exportedNames(path)
        expect(names.length).toBeGreaterThan(5)
        expect(replacedIn(names)).toEqual([])
      },
    ))

  it('use the terms of the glossary in all members', () =>
    everyCase(
      [
        'src/options/options.ts',
        'src/options/keys.ts',
        'src/options/pages.ts',
        'src/options/login.ts',
        'src/options/notices.ts',
        'src/options/pages.ts',
        'src/options/login.ts',
        'src/options/urls.ts',
        'src/options/host.ts',
        'src/flows/events.ts',
        'src/pages/view.ts',
        'src/web/actions/account.ts',
      ],
      async (path) => {
        const names = await membersIn(path)
        expect(names.length).toBeGreaterThan(0)
        expect(replacedIn(names)).toEqual([])
      },
    ))

  it('use the terms of the glossary in the codes of problems, warnings, notices, errors and events, and in the names of pages', async () => {
    const literals = async (path: string, pattern: RegExp) =>
      [...(await read(path)).matchAll(pattern)].map(([, name = '']) => name)
    const codes = [
      ...PROBLEM_CODES,
      ...WARNING_CODES,
      ...NOTICE_TYPES,
      ...(await literals('src/errors.ts', /'(ERR_MFA_[A-Z_]+)'/g)),
      ...(await literals('src/flows/events.ts', /\btype: '(\w+)'/g)),
      ...(await literals('src/pages/view.ts', /\bpage: '([\w-]+)'/g)),
    ]
    expect(codes.length).toBeGreaterThan(80)
    expect(replacedIn(codes)).toEqual([])
  })
})
