import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import { runCommand } from '../../src/cli/main.js'
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
      // Two people of Vault's help desk reset an account together.
      ...['--stricter', '/admin', '--skip', 'reset-race'],
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
  const others = report.findings.filter(({ verdict }) => verdict !== 'held')
  expect(others).toMatchObject([{ attack: 'reset-race', reason: '--skip leaves it out' }])
  expect(findingsIn(report, 'held')).toHaveLength(19)
  expect(code).toBe(0)
  server.closeAllConnections()
  server.close()
  await vault.close()
})

it('Vault has no bypass, by the links of its sign-in page', async () => {
  const server = createServer()
  const url = `http://localhost:${await listenOnLoopback(server)}`
  // Its identity provider is at the same address.
  const vault = await openTestVault({ PUBLIC_URL: url })
  server.on('request', vault.app)
  const out: string[] = []
  const signIn = ['--sign-in', 'POST /login username=bob&password=$BOB']
  const code = await runCommand(['check', url, ...signIn, '--protected', '/vault'], {
    env: { BOB: passwordOf('bob') },
    stdin: async () => '',
    out: (text) => void out.push(text),
    err: (text) => void out.push(text),
  })
  expect(out.join('\n')).toContain('No bypass in ')
  expect(code).toBe(0)
  server.closeAllConnections()
  server.close()
  await vault.close()
})
