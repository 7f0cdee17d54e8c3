import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import pg from 'pg'
import { startPostgres } from '../../../service/test/postgres.js'
import { movableClock } from '../../journeys/kit/clock.js'
import { environment, type RunningProcess, startProcess } from '../../kit/process.js'
import { startRedis } from '../../kit/redis.js'
import { temporaryFolder } from '../../kit/temporary-folder.js'
import { type Browser, openBrowser } from './browser.js'
import { type Mailboxes, openMailboxes } from './mailbox.js'
import type { DeployedProject } from './project.js'
import { type ServiceProxy, serviceProxy } from './service-proxy.js'

/** Where the processes of the app keep what they share. The service keeps its data in PostgreSQL. */
export type StoreName = 'Redis' | 'PostgreSQL'

/** The page on which keys are used. */
export const ORIGIN = 'http://localhost:3000'

/** The address of the console in links. */
export const CONSOLE_URL = 'https://console.example'

const API_KEY = 'a-test-key-of-at-least-32-characters'
const SECRET = 'a test secret of at least 32 characters'

const RELYING_PARTY = { SERVICE_RELYING_PARTY_ID: 'localhost', SERVICE_RELYING_PARTY_ORIGINS: ORIGIN }

/** The clock of all processes. */
export interface DeploymentClock {
  now(): number
  /** Moves it, in all processes and in Redis. */
  pass(ms: number): Promise<void>
}

/** Two processes of the host app and two of the service, from the packed packages. */
export interface Deployment {
  readonly clock: DeploymentClock
  readonly mail: Mailboxes
  /** In front of the services, for all apps that are given no other address. */
  readonly proxy: ServiceProxy
  readonly services: readonly [string, string]
  /** Opens a browser on the two apps, or on another one, which asks for JSON. */
  browser(url?: string): Browser
  /** Opens a browser on the consoles of the two services, or on that of another one. */
  consoleBrowser(url?: string): Browser
  /** Starts another process of the app, with other variables. */
  startApp(env?: Env): Promise<RunningProcess>
  /** Starts another process of the service. A variable that is '' counts as not set. */
  startService(env?: Env): Promise<RunningProcess>
  /** Sends 1,000 requests for one account to the services at once, and returns how often each status came. */
  flood(account: string): Promise<Readonly<Record<string, number>>>
  /** Runs the command of the service, and returns its result. */
  operate<T>(...args: readonly string[]): Promise<T>
  stop(): Promise<void>
}

type Env = Readonly<Record<string, string>>

/** Starts a deployment whose processes share their data in Redis or in PostgreSQL. */
export async function deploy(project: DeployedProject, name: StoreName): Promise<Deployment> {
  const stops: (() => Promise<void>)[] = []
  const stop = async () => {
    // The processes first, then what they use.
    for (const one of stops.splice(0).reverse()) await one()
  }
  try {
    return { ...(await startAll(project, name, stops)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startAll(
  project: DeployedProject,
  name: StoreName,
  stops: (() => Promise<void>)[],
): Promise<Omit<Deployment, 'stop'>> {
  const track = async <Started extends { stop(): Promise<void> }>(starting: Promise<Started>) => {
    const started = await starting
    stops.push(() => started.stop())
    return started
  }
  const folder = temporaryFolder()
  stops.push(async () => folder.remove())
  const movable = movableClock(folder.path)
  const [postgres, redis, mail] = await Promise.all([
    track(startPostgres()),
    name === 'Redis' ? track(startRedis()) : undefined,
    track(openMailboxes()),
  ])
  const databases = await createDatabases(postgres.url, 'app', 'service')
  const serviceEnv = {
    DATABASE_URL: databases.service,
    SERVICE_SECRET: SECRET,
    SERVICE_API_KEY: API_KEY,
    SERVICE_DELIVERY: `${mail.url}/service?secret=shared-with-the-receiver`,
    SERVICE_CONSOLE: 'true',
    SERVICE_CONSOLE_FOUR_EYES: 'true',
    SERVICE_CONSOLE_URL: CONSOLE_URL,
    DATA_DIR: folder.path,
    ...RELYING_PARTY,
    ...movable.env,
  }
  const start = (args: readonly string[], env: Env, listens: RegExp) =>
    track(startProcess(args, { folder: project.folder, env, listens }))
  const startService = (env: Env = {}) =>
    start([project.command, 'serve'], { SERVICE_PORT: '0', ...serviceEnv, ...env }, /listens on (http:\S+)/)
  const startApp = (env: Env = {}) => start(['app.mjs'], { ...appEnv, ...env }, /Listens on (http:\S+)/)

  // The first process of each creates its tables.
  const service = await startService()
  const proxy = await track(serviceProxy(service.url))
  const appEnv = {
    ...(redis ? { REDIS_URL: redis.url } : { DATABASE_URL: databases.app }),
    MFA_BASE_URL: proxy.url,
    MFA_API_KEY: API_KEY,
    MAIL_URL: `${mail.url}/app`,
    SESSION_SECRET: 'a session secret of the tests',
    ...movable.env,
  }
  const [app, otherService] = await Promise.all([startApp(), startService()])
  proxy.passTo(service.url, otherService.url)
  const otherApp = await startApp()
  const redisClient = await redis?.connect()
  let aheadMs = 0

  return {
    clock: {
      now: () => Date.now() + aheadMs,
      async pass(ms) {
        aheadMs += ms
        movable.ahead(aheadMs / 1_000)
        await redisClient?.eval(AGE, { arguments: [String(ms)] })
      },
    },
    mail,
    proxy,
    services: [service.url, otherService.url],
    browser: (url) => openBrowser(url ?? app.url, url ?? otherApp.url, { accept: 'application/json' }),
    consoleBrowser: (url) =>
      openBrowser(url ?? service.url, url ?? otherService.url, {
        accept: 'text/html',
        'sec-fetch-site': 'same-origin',
      }),
    startApp,
    startService,
    async flood(account) {
      const env = environment({ MFA_API_KEY: API_KEY })
      const args = ['flood.mjs', account, service.url, otherService.url]
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project.folder, env })
      return JSON.parse(stdout)
    },
    async operate(...args) {
      const all = [project.command, ...args, '--json']
      const { stdout } = await promisify(execFile)(process.execPath, all, { env: environment(serviceEnv) })
      return JSON.parse(stdout)
    },
  }
}

/** Lets time pass for the keys of Redis, whose clock cannot be moved. */
const AGE = `
  for _, key in ipairs(redis.call('KEYS', '*')) do
    local left = redis.call('PTTL', key)
    if left > tonumber(ARGV[1]) then redis.call('PEXPIRE', key, left - ARGV[1])
    elseif left >= 0 then redis.call('DEL', key) end
  end`

async function createDatabases<Name extends string>(server: string, ...names: readonly Name[]) {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  for (const name of names) await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  const urlOf = (name: Name) => Object.assign(new URL(server), { pathname: name }).href
  return Object.fromEntries(names.map((name) => [name, urlOf(name)])) as Record<Name, string>
}
