import { once } from 'node:events'
import { createServer } from 'node:http'
import { type CountersignService, createService } from '@countersign/service'
import { expect, vi } from 'vitest'
import { recordFilesRun } from './files-run.js'
import { host, jsonAgent } from './host.js'
import { listenOnLoopback } from './loopback.js'
import { codeIn } from './message-code.js'
import { challenge, login, verify } from './sign-in.js'

const API_KEY = 'key_of_the_measured_verification'

/** The files that ran for one request. */
export interface FilesOfVerification {
  /** Those of `src` from the arrival of `POST /mfa/verify` to its response, without what the service runs in the same process. */
  readonly plugin: readonly string[]
  /** Those of `service/src` for the call `POST /v1/mfa/verify`, without the question which factors the user has. */
  readonly service: readonly string[]
}

/** Signs bob in by email codes, and records which files run each time after the first. */
export async function filesOfVerification(): Promise<FilesOfVerification> {
  const service = await createService({
    dataDir: 'memory://',
    secret: 'a secret for the measurement, long enough',
    apiKey: API_KEY,
    delivery: 'inbox',
  })
  const recording = recordFilesRun()
  const ran = { plugin: new Set<string>(), service: new Set<string>() }
  const server = createServer((req, res) => {
    for (const file of recording.take()) ran.plugin.add(file)
    service.api(req, res)
    // Behind what the service does at the end of its response, and before the plugin reads it.
    res.on('close', () =>
      process.nextTick(() => {
        const files = recording.take()
        if (req.url === '/v1/mfa/verify') for (const file of files) ran.service.add(file)
      }),
    )
  })
  try {
    const baseUrl = `http://127.0.0.1:${await listenOnLoopback(server)}`
    const { app } = host({
      options: {
        service: { baseUrl, apiKey: API_KEY },
        factors: ({ email }) => [{ method: 'email', email }],
        // They inspect the first requests only.
        diagnostics: false,
      },
    })
    await signIn(app, service, () => {})
    // However long the test takes, the service does not read its settings again.
    vi.useFakeTimers({ toFake: ['performance'] })
    const measured: FilesOfVerification[] = []
    for (const _ of ['first', 'second']) {
      await signIn(app, service, () => {
        recording.take()
        ran.plugin.clear()
        ran.service.clear()
      })
      for (const file of recording.take()) ran.plugin.add(file)
      measured.push({ plugin: below('src/', ran.plugin), service: below('service/src/', ran.service) })
    }
    // Work of a timer meanwhile is no part of a verification.
    const inEach = (part: keyof FilesOfVerification) =>
      (measured[0]?.[part] ?? []).filter((file) => measured.every((one) => one[part].includes(file)))
    return { plugin: inEach('plugin'), service: inEach('service') }
  } finally {
    vi.useRealTimers()
    recording.stop()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    await service.close()
  }
}

const below = (folder: string, files: ReadonlySet<string>) =>
  [...files].filter((file) => file.startsWith(folder)).sort()

async function signIn(
  app: Parameters<typeof jsonAgent>[0],
  { inbox }: CountersignService,
  beforeVerify: () => void,
) {
  const client = jsonAgent(app)
  await login(client, 'bob')
  await challenge(client, 'email')
  const [message] = (await inbox?.messages({ to: 'bob@example.com' })) ?? []
  beforeVerify()
  const { body } = await verify(client, codeIn(message?.text))
  expect(body).toMatchObject({ status: 'verified' })
}
