import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from './app.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { reportFault } from './fault.js'
import { type OpenVault, openVault } from './open-vault.js'
import { seed } from './seed.js'

async function main(): Promise<void> {
  const config = readConfig(process.env)
  const vault = await openVault(config)
  if ((await vault.context.users.count()) === 0) await seedOrWarn(config, vault)

  const server = createServer(createApp(vault.context))
  vault.attach(server)
  await listen(server, config).catch(async (error: unknown) => {
    await vault.close()
    throw error
  })
  console.log(await greeting(config, vault, (server.address() as AddressInfo).port))

  const stop = async () => {
    vault.closeStreams()
    await closeServer(server)
    await vault.close()
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stop().catch(fail)
    })
  }
}

async function seedOrWarn(config: Config, vault: OpenVault): Promise<void> {
  if (config.production) {
    console.warn(
      'There are no users yet. `npm run seed` adds users with public passwords: use it for tests only.',
    )
    return
  }
  for (const line of await seed(vault.seeding)) console.log(line)
}

function listen(server: Server, { port, host }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new ConfigError([`PORT ${port} is in use by another process; set another port`])
          : error,
      ),
    )
    server.listen(port, host, resolve)
  })
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error ? reject(error) : resolve()))
    server.closeIdleConnections()
  })
}

async function greeting(config: Config, { context }: OpenVault, port: number): Promise<string> {
  const address = `http://${config.host === '127.0.0.1' ? 'localhost' : config.host}:${port}`
  const seedUsers = context.seedUsers.map(
    ({ username, password, shows }) => `  ${username.padEnd(8)} ${password.padEnd(20)} ${shows}`,
  )
  const bob = context.seedUsers.find(({ username }) => username === 'bob')
  return [
    '',
    ...(seedUsers.length > 0
      ? ['Test users (name, password, second factors and roles):', ...seedUsers, '']
      : []),
    context.inbox
      ? `Text messages, calls and emails appear on ${address}/inbox?${new URLSearchParams({ key: await context.inbox.key() })}`
      : 'The MFA service delivers text messages, calls and emails',
    ...(context.inbox || seedUsers.length > 0
      ? [
          `Codes of the authenticator apps: ${context.inbox ? 'the same page, or ' : ''}npm run code -w example-app -- alice`,
        ]
      : []),
    ...(bob ? [`Sign in as ${bob.username} with the password ${bob.password}`] : []),
    '',
    `Vault is open on ${address}`,
  ].join('\n')
}

function fail(error: unknown): void {
  reportFault(error)
  process.exit(1)
}

main().catch(fail)
