import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { findingsIn, runAttack } from '../../test/kit/attack.js'
import { listenOnLoopback } from '../../test/kit/loopback.js'
import { INBOX_KEY, openTestVault, passwordOf } from './kit.js'

it('Vault holds when it is attacked, in each promise', async () => {
  const vault = await openTestVault()
  const server = createServer(vault.app)
  const url = `http://localhost:${await listenOnLoopback(server)}`
  const { code, report } = await runAttack(
    url,
    [
      ...[
        '--sign-in',
        'POST /login username=alice&password=$ALICE',
        '--factor',
        'sms',
        '--protected',
        '/account',
      ],
      ...['--other-sign-in', 'POST /login username=bob&password=$BOB', '--inbox', '$INBOX'],
      ...['--stricter', '/admin'],
      ...[
        '--login',
        'POST /login username=alice&password=$ALICE',
        '--pending-path',
        '/login',
        '--pending-path',
        '/me',
      ],
      ...[
        '--change',
        'POST /password current=$ALICE&next=another-long-password',
        '--change',
        'POST /mfa/enroll-app/remove',
      ],
      ...['--max-routes', '0', '--route', '/vault', '--route', '/phone'],
    ],
    { ALICE: passwordOf('alice'), BOB: passwordOf('bob'), INBOX: `/inbox?key=${INBOX_KEY}` },
  )
  expect(report.findings.filter(({ verdict }) => verdict !== 'held')).toEqual([])
  expect(findingsIn(report, 'held')).toHaveLength(17)
  expect(code).toBe(0)
  server.closeAllConnections()
  server.close()
  await vault.close()
})
