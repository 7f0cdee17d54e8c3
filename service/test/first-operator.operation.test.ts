import { exec } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, expect, test } from 'vitest'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { run } from '../src/cli/program.js'
import { type Running, startListening } from './processes.js'

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) {
    one.child.kill('SIGTERM')
    await one.ended
  }
})

async function started(env: Record<string, string>): Promise<Running> {
  const one = await startListening({ SERVICE_CONSOLE: 'true', ...env })
  running.push(one)
  await expect.poll(() => one.output()).toContain('The inbox keeps')
  return one
}

const folders: TemporaryFolder[] = []
afterAll(() => {
  for (const folder of folders) folder.remove()
})

function newFolder(): string {
  const folder = temporaryFolder()
  folders.push(folder)
  return folder.path
}

/** The options that a service in production needs, which here keeps messages in a closed port. */
const PRODUCTION = {
  NODE_ENV: 'production',
  SERVICE_SECRET: 'a secret for tests that is long enough',
  SERVICE_API_KEY: 'a-key-for-tests-that-is-long-enough',
}

test('prints a link at the start in development, which lets the first administrator in once, without a stop', async () => {
  const dataDir = join(newFolder(), 'data')
  const first = await started({ DATA_DIR: dataDir })
  await expect.poll(() => first.output()).toContain('Nobody can sign in')
  const link = /http:\S+\/console\/invitation\/[\w-]{43}/.exec(first.output())?.[0] ?? ''
  expect(new URL(link).port).toBe(new URL(first.url).port)
  const choose = () =>
    fetch(link, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ password: 'seven quiet otters float', again: 'seven quiet otters float' }),
      redirect: 'manual',
    })
  const chosen = await choose()
  // The form goes on to the sign-in.
  expect([chosen.status, chosen.headers.get('location')]).toEqual([307, '/console/sign-in'])
  expect((await choose()).status).toBe(404)

  // Now an administrator exists, so the next start prints no other link.
  first.child.kill('SIGTERM')
  await first.ended
  const second = await started({ DATA_DIR: dataDir })
  await expect.poll(() => existsSync(join(dataDir, 'operator.sock'))).toBe(true)
  second.child.kill('SIGTERM')
  await second.ended
  expect(second.output()).not.toContain('/console/invitation/')
})

test('has a running service on an embedded database carry out an invitation, and nobody else can ask for one', async () => {
  const dataDir = join(newFolder(), 'data')
  const service = await started({ DATA_DIR: dataDir })
  await expect.poll(() => service.output()).toContain('Nobody can sign in')
  const command = async (...args: string[]) => {
    const [out, err]: [string[], string[]] = [[], []]
    const io = {
      env: { DATA_DIR: dataDir },
      out: (text: string) => void out.push(text),
      err: (text: string) => void err.push(text),
    }
    return {
      code: await run(['--as', 'ann', 'operator', 'invite', ...args], io),
      out: out.join('\n'),
      err: err.join('\n'),
    }
  }
  const invited = await command('ben@example.com', '--role', 'admin')
  expect(invited).toMatchObject({ code: 0, out: expect.stringMatching(/^\/console\/invitation\/[\w-]{43}$/) })
  expect((await fetch(service.url + invited.out)).status).toBe(200)
  expect(await command('no address')).toMatchObject({
    code: 1,
    err: expect.stringContaining('not an email address'),
  })
  expect(await command('ben@example.com', '--role', 'owner')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is not a role'),
  })
  const socket = join(dataDir, 'operator.sock')
  expect(statSync(socket).mode & 0o777).toBe(0o600)
  service.child.kill('SIGTERM')
  await service.ended
  expect(existsSync(socket)).toBe(false)
  expect(await command('ben@example.com', '--role', 'admin')).toMatchObject({ code: 0 })
})

test('prints in production no link, but a command that works as it is typed while the service runs', async () => {
  const dataDir = join(newFolder(), "the owner's data")
  const service = await startListening({
    ...PRODUCTION,
    SERVICE_CONSOLE: 'true',
    SERVICE_CONSOLE_TRUSTED_PROXIES: 'loopback',
    SERVICE_DELIVERY: 'smtp://127.0.0.1:1?from=a@b.example',
    DATA_DIR: dataDir,
  })
  running.push(service)
  await expect.poll(() => service.output()).toContain('operator invite')
  expect(service.output()).not.toContain('/console/invitation/')
  const hint = /DATA_DIR=.*/.exec(service.output())?.[0] ?? ''
  const { stdout } = await promisify(exec)(hint, { cwd: tmpdir(), env: { PATH: process.env.PATH } })
  expect(stdout).toMatch(/\/console\/invitation\/[\w-]{43}$/m)
})
