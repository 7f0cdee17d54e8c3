import { createServer } from 'node:http'
import { findMfaBypasses } from 'countersign/testing'
import { expect, it } from 'vitest'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { openTestVault, passwordOf } from './kit.js'

// About 300 requests, each second one after a login of its own with its password hash, can be slow on a busy machine.
it('Vault has no MFA bypass (R01, R02)', async () => {
  const server = createServer()
  const url = `http://localhost:${await listenOnLoopback(server)}`
  // Its identity provider is at the same address.
  const vault = await openTestVault({ PUBLIC_URL: url })
  server.on('request', vault.app)
  const fields = { username: 'bob', password: passwordOf('bob') }
  const { bypasses, probed, skipped } = await findMfaBypasses({
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
    // Both show the user their MFA status.
    pendingPaths: ['/login', '/me'],
  })
  expect(bypasses).toEqual([])
  expect(probed.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['/', '/login', '/me', '/vault', '/account']),
  )
  expect(skipped.every(({ method }) => method === 'POST')).toBe(true)
  server.closeAllConnections()
  server.close()
  await vault.close()
})
