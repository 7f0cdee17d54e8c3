import { findMfaBypasses } from 'countersign/testing'
import { expect, it } from 'vitest'
import { openTestVault, passwordOf } from './kit.js'

// Some three hundred requests, and each login works for its password: a busy machine takes its time.
it('R01 R02 has no road to a session past the second factor', async () => {
  const vault = await openTestVault()
  const fields = { username: 'bob', password: passwordOf('bob') }
  const { findings, tried, untried } = await findMfaBypasses({
    app: vault.app,
    logins: {
      json: { fields },
      form: (agent) =>
        agent('/login', {
          method: 'POST',
          headers: { Accept: 'text/html', 'Content-Type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(fields).toString(),
        }),
    },
    // Both tell people where they stand.
    open: ['/login', '/me'],
  })
  expect(findings).toEqual([])
  expect(tried.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/', '/login', '/me', '/vault', '/account']),
  )
  expect(untried.every(({ method }) => method === 'POST')).toBe(true)
  await vault.close()
}, 60_000)
