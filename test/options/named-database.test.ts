import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { namedDatabase } from '../../src/client/named-database.js'
import { everyCase } from '../kit/every-case.js'

const APP = 'postgresql://app@127.0.0.1/app'
const OWN = 'postgresql://mfa@127.0.0.1/mfa'

describe('the database of the service in the process of the app (R148)', () => {
  /** The database that is chosen, or the sentence of the refusal, and the warnings. */
  async function choose(env: Record<string, string>, used: readonly string[] = [], dataDir = '/nowhere') {
    const warnings: string[] = []
    const question = {
      env,
      dataDir,
      isServiceDatabase: async (address: string) => used.includes(address),
      warn: (text: string) => void warnings.push(text),
    }
    const chosen = await namedDatabase(question).catch((error: Error) => error.message)
    return { chosen, warnings }
  }

  it('is the one in MFA_DATABASE_URL, and no DATABASE_URL of another program is looked at', () =>
    everyCase(
      [
        [{ MFA_DATABASE_URL: OWN }, OWN],
        [{ MFA_DATABASE_URL: OWN, DATABASE_URL: APP }, OWN],
        [{ MFA_DATABASE_URL: APP, DATABASE_URL: APP }, APP],
        [{ MFA_DATABASE_URL: 'none', DATABASE_URL: APP }, undefined],
        [{ DATABASE_URL: 'mysql://127.0.0.1/app' }, undefined],
        [{ DATABASE_URL: 'file:./dev.db' }, undefined],
        [{ DATABASE_URL: '' }, undefined],
        [{}, undefined],
      ] as const,
      async ([env, expected]) => expect(await choose(env)).toEqual({ chosen: expected, warnings: [] }),
    ))

  it('stays in a DATABASE_URL that has the tables, with a warning that names the line to add', async () => {
    const { chosen, warnings } = await choose({ DATABASE_URL: APP }, [APP])
    expect(chosen).toBe(APP)
    expect(warnings).toEqual([expect.stringContaining('MFA_DATABASE_URL=')])
    expect(warnings[0]).not.toContain('app@')
  })

  it('is refused where only DATABASE_URL is set and lacks the tables, with the lines to choose from', async () => {
    const { chosen, warnings } = await choose({ DATABASE_URL: APP })
    expect(chosen).toMatch(
      /DATABASE_URL is the database of the app.* MFA_DATABASE_URL=postgresql.* MFA_DATABASE_URL=none/,
    )
    expect(warnings).toEqual([])
  })

  it('is never an empty one while DATABASE_URL has the tables', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-named-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const named of [OWN, 'none']) {
      const env = { MFA_DATABASE_URL: named, DATABASE_URL: APP }
      expect((await choose(env, [APP], folder)).chosen).toContain('names an empty store')
    }
    const both = { MFA_DATABASE_URL: OWN, DATABASE_URL: APP }
    expect((await choose(both, [APP, OWN])).chosen).toBe(OWN)
    mkdirSync(join(folder, 'database'))
    expect(
      (await choose({ MFA_DATABASE_URL: 'none', DATABASE_URL: APP }, [APP], folder)).chosen,
    ).toBeUndefined()
  })

  it('is not chosen while a database does not answer', async () => {
    const question = {
      env: { DATABASE_URL: APP },
      dataDir: '/nowhere',
      isServiceDatabase: () => Promise.reject(new Error('unreachable')),
      warn: () => {},
    }
    await expect(namedDatabase(question)).rejects.toThrow('unreachable')
  })
})
