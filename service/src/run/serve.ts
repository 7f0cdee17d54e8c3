import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve as absolute } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { addConsole, apiServer, limitConnections } from '../api/http/server.js'
import { acceptLocalInvitations } from '../operator/local-invitations.js'
import { ConfigurationError } from '../process/configuration-error.js'
import { readFileLimit } from '../process/file-limit.js'
import { PACKAGE_FOLDER } from '../process/own-package.js'
import { isProduction } from '../process/production.js'
import { jsonLogger, leveledLogger, lineBuffer } from '../telemetry/log/logger.js'
import { createService } from './create-service.js'
import { isLoopback, readEnvironment } from './environment.js'
import type { CountersignService } from './service.js'

const FINISH_WITHIN_MS = 10_000
/** Requests in progress, then messages that are being handed over, and the database that must record them. */
const SHUTDOWN_MS = 2 * FINISH_WITHIN_MS + 5_000

/** Writes to standard error, for the operator; standard output is the log. */
function print(sentence: string): void {
  process.stderr.write(`${sentence}\n`)
}

/** Runs the service as a process until a signal ends it. Resolves when it listens; rejects with a `ConfigurationError` if it cannot. */
export async function serve(): Promise<void> {
  const { options, host, port, consoleAddress, logLevel, drainMs, warnings } = readEnvironment(process.env, {
    dataDir: '.data',
  })
  const { connections, warning: files } = readFileLimit()
  for (const warning of [...warnings, ...(files ? [files] : [])]) print(`warning: ${warning}`)
  // In production, a key must not end up where the output of the process is kept.
  const generatedKey =
    options.apiKey || isProduction() ? undefined : `mfa_${randomBytes(32).toString('base64url')}`
  const log = lineBuffer(process.stdout)
  process.on('exit', log.flush)
  const logger = leveledLogger(logLevel, jsonLogger(log))
  const service = await createService({
    ...options,
    ...(generatedKey && { apiKey: generatedKey }),
    logger,
  })
  if (generatedKey) print(`SERVICE_API_KEY is not set. The API key for this run is ${generatedKey}`)
  else if (!options.apiKey) {
    print('SERVICE_API_KEY is not set: only keys created by `key create` are accepted.')
  }
  const { api, console } = service
  const isShared = console && !consoleAddress
  const server = apiServer(isShared ? addConsole(api, console) : api, options.publicUrl)
  service.attach(server)
  if (connections !== undefined) {
    let silentUntil = 0
    limitConnections(server, connections, () => {
      if (performance.now() < silentUntil) return
      silentUntil = performance.now() + 60_000
      const detail = `All ${connections} connections are in use. Raise the limit of open files, or start another process.`
      logger({ level: 'warn', event: 'connections.refused', detail })
    })
  }
  const consoleServer = console && consoleAddress && apiServer(console)
  try {
    await listen(server, { host, port, variables: 'SERVICE' })
    if (consoleServer) await listen(consoleServer, { ...consoleAddress, variables: 'SERVICE_CONSOLE' })
  } catch (error) {
    server.close()
    await service.close()
    throw error
  }
  const { address, port: boundPort } = server.address() as AddressInfo
  logger({ level: 'info', event: 'service.started', ...service.info, address: `${address}:${boundPort}` })
  print(`The MFA service listens on ${describeListening(host, boundPort)}`)
  const consolePort = consoleServer ? (consoleServer.address() as AddressInfo).port : boundPort
  const consoleUrl = options.console?.url ?? options.publicUrl
  const consoleHost = consoleServer ? consoleAddress?.host : host
  const consoleAt = `${consoleUrl ?? describeAddress(consoleHost, consolePort)}/console`
  if (console) print(`The console is at ${consoleAt}`)
  else if (!isProduction()) print(`The console is off. SERVICE_CONSOLE=true opens it at ${consoleAt}`)
  const ownFolder = options.databaseUrl === undefined ? options.dataDir : undefined
  let refuseInvitations = () => {}
  if (service.inbox) {
    print(
      `The inbox keeps the messages by ${listInboxChannels(service.info.carriers)}: GET /v1/test/inbox?to=… with the API key`,
    )
  }

  const skipDrain = new AbortController()
  let stopping = false
  const stop = () => {
    if (stopping) return skipDrain.abort()
    stopping = true
    const times = { drainMs, finishWithinMs: FINISH_WITHIN_MS }
    // Ends the process even if something hangs.
    setTimeout(() => process.exit(1), drainMs + SHUTDOWN_MS).unref()
    const whole = {
      drain: () => service.drain(),
      closeStreams: () => service.closeStreams(),
      async close() {
        refuseInvitations()
        consoleServer?.close()
        consoleServer?.closeAllConnections()
        await service.close()
      },
    }
    shutDown(server, whole, times, skipDrain.signal).then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', () => {
    // At a terminal there is no load balancer to wait for.
    skipDrain.abort()
    stop()
  })
  if (!console) return
  if (ownFolder !== undefined) refuseInvitations = await acceptInvitations(service, ownFolder, consoleUrl)
  if (stopping) return refuseInvitations()
  await printFirstInvitation(service, ownFolder, consoleUrl ?? `http://localhost:${consolePort}`).catch(
    (error) => {
      if (!stopping) throw error
    },
  )
}

async function acceptInvitations(
  service: CountersignService,
  dataDir: string,
  consoleUrl: string | undefined,
): Promise<() => void> {
  try {
    return await acceptLocalInvitations(dataDir, service.operator, consoleUrl)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    print(
      `warning: To use \`operator invite\`, stop the service: it has no socket for the command (${reason}).`,
    )
    return () => {}
  }
}

/** The program that operators run. Its path works in every folder and container. */
const COMMAND = fileURLToPath(new URL('dist/cli/main.js', PACKAGE_FOLDER))

/** The account of the link that is printed in development. */
const FIRST_OPERATOR = 'admin@example.com'

/** Says how the first operator gets into the console, while it has no operator who can sign in. */
async function printFirstInvitation(
  service: CountersignService,
  ownFolder: string | undefined,
  consoleUrl: string,
): Promise<void> {
  const operator = service.operator('countersign-service')
  const operators = await operator.listOperators()
  if (operators.some(({ state }) => state === 'active')) return
  // In production, a link must not end up where the output of the process is kept.
  if (isProduction()) {
    const folder = ownFolder === undefined ? '' : `DATA_DIR=${quotePath(absolute(ownFolder))} `
    print(
      `Nobody can sign in to the console yet. Invite yourself, while the service runs${ownFolder === undefined ? ' and with its environment variables' : ''}: ` +
        `${folder}node ${quotePath(COMMAND)} operator invite you@example.com --role admin`,
    )
    return
  }
  const { token } = await operator.inviteOperator({ email: FIRST_OPERATOR, role: 'admin' })
  print(
    `Nobody can sign in to the console yet. Until the next start, this link makes you its administrator ${FIRST_OPERATOR}, once, within 24 hours: ` +
      `${consoleUrl}/console/invitation/${token}`,
  )
}

function quotePath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}

/** The channels that the inbox serves, of a text such as `email=smtp, sms=inbox`. */
function listInboxChannels(carriers: string): string {
  const served = carriers.split(', ').filter((entry) => /[=|]inbox\b/.test(entry))
  return served.map((entry) => entry.slice(0, entry.indexOf('='))).join(', ')
}

/** Where a server listens, and the beginning of the names of the variables that say so. */
interface ListenAt {
  readonly host: string | undefined
  readonly port: number
  readonly variables: 'SERVICE' | 'SERVICE_CONSOLE'
}

function listen(server: ReturnType<typeof apiServer>, at: ListenAt): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, at)))
    server.listen(at.port, at.host, resolve)
  })
}

function describeListening(host: string | undefined, port: number): string {
  const url = describeAddress(host, port)
  if (isEverywhere(host)) return `${url} and every other address of this machine`
  return isLoopback(host) ? `${url} (from this machine only; SERVICE_HOST=0.0.0.0 opens it to others)` : url
}

function describeAddress(host: string | undefined, port: number): string {
  if (isEverywhere(host)) return `http://localhost:${port}`
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function isEverywhere(host: string | undefined): host is undefined | '0.0.0.0' | '::' {
  return host === undefined || host === '0.0.0.0' || host === '::'
}

function listenError(error: unknown, { host, port, variables }: ListenAt): unknown {
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'EADDRINUSE') {
    return new ConfigurationError([
      `${variables}_PORT ${port} is in use by another process: choose another port.`,
    ])
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new ConfigurationError([`${variables}_HOST ${host} is not an address of this machine.`])
  }
  if (code !== 'EACCES') return error
  return new ConfigurationError([
    `This user may not listen on ${variables}_PORT ${port}: choose a port from 1024 on.`,
  ])
}

/** The duration of each phase of an orderly shutdown. */
export interface ShutdownTimes {
  /** How long `/readyz` reports that the service is not ready before the server stops accepting requests. */
  readonly drainMs: number
  /** How long requests in progress may take before their connections are closed. */
  readonly finishWithinMs: number
}

/**
 * Shuts a service down in order: `/readyz` fails while requests are still accepted, so that load balancers stop sending
 * them; then the server accepts no more requests and answers those in progress; then the service waits for messages
 * that are being handed over. Aborting `skipDrain` skips the wait for load balancers.
 */
export async function shutDown(
  server: Server,
  service: Pick<CountersignService, 'drain' | 'closeStreams' | 'close'>,
  { drainMs, finishWithinMs }: ShutdownTimes,
  skipDrain?: AbortSignal,
): Promise<void> {
  service.drain()
  await wait(drainMs, undefined, skipDrain && { signal: skipDrain }).catch(() => {})
  const closeAll = setTimeout(() => server.closeAllConnections(), finishWithinMs)
  // The server waits for open WebSockets, too.
  service.closeStreams()
  // Otherwise the server would wait for keep-alive connections that are idle.
  const closeIdle = setInterval(() => server.closeIdleConnections(), 100)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  clearInterval(closeIdle)
  clearTimeout(closeAll)
  await service.close()
}
