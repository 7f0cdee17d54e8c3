import { describe, expect, test } from 'vitest'
import { cyclesIn, floorsOf, type Import, sourcesIn } from '../../test/layering/scan.js'

/*
 * Imports point down. This table lists the modules of `service/src`, from the bottom up, with the modules below that
 * each one uses. `types` lists modules of which it imports only types.
 */

const ROOT = 'service/src/'
const sources = sourcesIn('service/src')

/** A module is a folder of `service/src`, or a file beside the folders. */
const moduleOf = (path: string) => path.slice(ROOT.length).split('/')[0] ?? ''

interface Layer {
  readonly uses?: readonly string[]
  readonly types?: readonly string[]
}

const LAYERS: Readonly<Record<string, Layer>> = {
  'configuration-error.ts': {},
  'time.ts': {},
  'file-limit.ts': {},
  log: {},
  'safe-fetch': {},
  contacts: {},
  'authenticator-app': {},
  'html.ts': {},
  'limits.ts': { uses: ['log', 'time.ts'] },
  'production.ts': {},
  'own-package.ts': {},
  'console-option.ts': {},
  'shard.ts': {},
  'message.ts': {},
  secrets: { uses: ['configuration-error.ts'] },
  store: { uses: ['configuration-error.ts', 'own-package.ts'] },
  'application.ts': { types: ['limits.ts', 'store'] },
  events: { uses: ['store'] },
  requests: {},

  webauthn: { types: ['application.ts'] },
  idempotency: { uses: ['secrets', 'store'] },
  accounts: {
    uses: ['authenticator-app', 'contacts', 'events', 'time.ts', 'secrets', 'store'],
    types: ['application.ts'],
  },
  // Reads the files of other systems, and knows no database.
  import: { uses: ['authenticator-app', 'requests'], types: ['accounts'] },
  activity: { uses: ['log', 'store'] },
  delivery: {
    uses: ['message.ts', 'application.ts', 'contacts', 'events', 'log', 'secrets', 'store', 'time.ts'],
    types: ['activity'],
  },
  'refusals.ts': { types: ['delivery'] },
  'message-texts': { uses: ['own-package.ts'], types: ['application.ts', 'message.ts'] },
  carriers: {
    uses: [
      'message.ts',
      ...['delivery', 'log', 'message-texts', 'safe-fetch', 'production.ts', 'time.ts'],
      ...['secrets', 'store'],
    ],
    types: ['application.ts'],
  },
  'event-delivery': {
    uses: ['carriers', 'delivery', 'log', 'secrets', 'store', 'time.ts'],
    types: ['safe-fetch'],
  },
  receipts: { uses: ['carriers', 'delivery', 'time.ts'] },
  'test-mode': { uses: ['delivery', 'refusals.ts'], types: ['application.ts', 'carriers'] },
  transcription: {
    uses: ['events', 'limits.ts', 'log', 'own-package.ts', 'safe-fetch', 'time.ts', 'secrets', 'store'],
  },
  applications: {
    uses: [
      ...['application.ts', 'carriers', 'contacts', 'events', 'limits.ts', 'log', 'message-texts', 'store'],
      'configuration-error.ts',
    ],
  },
  metrics: { uses: ['delivery'], types: ['message.ts', 'log', 'store'] },
  maintenance: { uses: ['accounts', 'activity', 'delivery', 'log', 'store'] },
  'readiness.ts': { uses: ['log', 'store'] },

  flows: {
    uses: [
      'accounts',
      'applications',
      'authenticator-app',
      'contacts',
      'delivery',
      'events',
      'import',
      'log',
      'message-texts',
      'refusals.ts',
      'requests',
      'shard.ts',
      'time.ts',
      'secrets',
      'store',
      'test-mode',
      'transcription',
      'webauthn',
    ],
    types: ['message.ts', 'activity', 'application.ts', 'carriers', 'idempotency'],
  },

  // An operator's changes depend on neither the command line nor HTTP, so that other interfaces can offer them too.
  operator: {
    uses: [
      'message.ts',
      'accounts',
      'activity',
      'application.ts',
      'applications',
      'carriers',
      'contacts',
      'delivery',
      'event-delivery',
      'events',
      'import',
      'limits.ts',
      'message-texts',
      'secrets',
      'shard.ts',
      'store',
      'time.ts',
      'configuration-error.ts',
    ],
    types: ['receipts'],
  },
  http: {
    uses: [
      'message.ts',
      'limits.ts',
      'accounts',
      'application.ts',
      'delivery',
      'flows',
      'html.ts',
      'log',
      'receipts',
      'operator',
      'requests',
      'shard.ts',
      'store',
      'time.ts',
      'transcription',
    ],
    types: ['carriers', 'idempotency', 'metrics', 'readiness.ts'],
  },

  // The pages for operators. They load the whole plugin, so only `service.ts` imports them, when they are switched on.
  console: {
    uses: [
      'applications',
      'contacts',
      'message.ts',
      'html.ts',
      'log',
      'message-texts',
      'operator',
      'own-package.ts',
      'production.ts',
      'secrets',
      'store',
    ],
    types: ['carriers'],
  },

  'options.ts': {
    uses: [
      'application.ts',
      'applications',
      'carriers',
      'configuration-error.ts',
      'console-option.ts',
      'contacts',
      'limits.ts',
      'message-texts',
      'safe-fetch',
      'production.ts',
      'receipts',
      'shard.ts',
      'transcription',
    ],
    types: ['log', 'store'],
  },
  'environment.ts': {
    uses: ['configuration-error.ts', 'options.ts', 'limits.ts', 'production.ts', 'secrets'],
    types: ['log'],
  },
  'start-warnings.ts': {
    uses: ['applications', 'message.ts', 'operator', 'production.ts', 'transcription'],
    types: ['carriers', 'log', 'options.ts', 'store'],
  },
  'service.ts': {
    uses: [
      'accounts',
      'activity',
      'application.ts',
      'applications',
      'carriers',
      'console',
      'console-option.ts',
      'delivery',
      'event-delivery',
      'flows',
      'http',
      'idempotency',
      'log',
      'maintenance',
      'metrics',
      'operator',
      'own-package.ts',
      'production.ts',
      'readiness.ts',
      'receipts',
      'start-warnings.ts',
      'store',
      'test-mode',
      'transcription',
    ],
    types: ['options.ts', 'secrets'],
  },
  'create-service.ts': { uses: ['options.ts', 'secrets', 'service.ts', 'store'] },
  'start-service.ts': { uses: ['carriers', 'create-service.ts', 'options.ts'], types: ['service.ts'] },
  'serve.ts': {
    uses: [
      'configuration-error.ts',
      'create-service.ts',
      'environment.ts',
      'file-limit.ts',
      'http',
      'log',
      'operator',
      'own-package.ts',
      'production.ts',
    ],
    types: ['service.ts'],
  },
  'main.ts': { uses: ['configuration-error.ts', 'file-limit.ts', 'serve.ts'] },
  cli: {
    uses: [
      'applications',
      'configuration-error.ts',
      'environment.ts',
      'file-limit.ts',
      'import',
      'own-package.ts',
      'production.ts',
      'serve.ts',
      'operator',
      'options.ts',
      'receipts',
      'secrets',
      'store',
      'time.ts',
      'transcription',
    ],
  },
  'index.ts': {
    uses: [
      ...[
        'configuration-error.ts',
        'create-service.ts',
        'environment.ts',
        'log',
        'operator',
        'secrets',
        'start-service.ts',
      ],
      'store',
    ],
    types: [
      'applications',
      'carriers',
      'message.ts',
      'time.ts',
      'flows',
      'limits.ts',
      'options.ts',
      'service.ts',
    ],
  },
}

/** The modules and files in which each package is used; types of a package may be imported anywhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  '@opentelemetry/api': ['log/tracing.ts'],
  'countersign/protocol': [''],
  zod: [''],
  '@fastify/busboy': ['http/upload.ts'],
  commander: ['cli/'],
  countersign: ['console/'],
  express: ['console/', 'http/'],
  'express-session': ['console/'],
  passport: ['console/'],
  'openid-client': ['console/sign-in/oidc.ts'],
  'passport-local': ['console/'],
  leven: ['environment.ts'],
  'libphonenumber-js/max': ['contacts/phone.ts'],
  nodemailer: ['carriers/smtp.ts'],
  'nodemailer/lib/mime-funcs': ['carriers/email.ts'],
  'nodemailer/lib/qp': ['carriers/email.ts'],
  otpauth: ['authenticator-app/'],
  '@noble/ciphers/chacha.js': ['import/sources.ts'],
  '@noble/ciphers/utils.js': ['import/sources.ts'],
  pg: ['store/'],
  pino: ['log/logger.ts'],
  'prom-client': ['metrics/'],
  qr: ['authenticator-app/'],
  'request-filtering-agent': ['safe-fetch/public-agent.ts'],
  '@simplewebauthn/server': ['webauthn/'],
  '@simplewebauthn/server/helpers': ['webauthn/'],
  ws: ['http/streams/', 'transcription/live/engine-socket.ts'],
  'zod-openapi': ['http/openapi/'],
}

const describeImport = ({ from, to, isType }: Import) => `${from} → ${to}${isType ? ' (type)' : ''}`

function violations(isAllowed: (one: Import) => boolean): string[] {
  return sources.flatMap(({ imports }) => imports.filter((one) => !isAllowed(one)).map(describeImport))
}

/** The modules that each module imports, as the sources have it. */
function importedModules(): Record<string, Layer> {
  const found = new Map<string, Map<string, boolean>>()
  for (const { path, imports } of sources) {
    const own = moduleOf(path)
    const others = found.get(own) ?? new Map<string, boolean>()
    found.set(own, others)
    for (const { to, isPackage, isType } of imports) {
      if (isPackage || moduleOf(to) === own) continue
      others.set(moduleOf(to), isType && (others.get(moduleOf(to)) ?? true))
    }
  }
  const layers = [...found].map(([name, others]) => {
    const select = (isType: boolean) =>
      [...others.keys()].filter((other) => others.get(other) === isType).sort()
    return [name, { uses: select(false), types: select(true) }]
  })
  return Object.fromEntries(layers)
}

describe('the layering of the service', () => {
  test('is exactly the table: every module, with every module that it uses', () => {
    const table = Object.entries(LAYERS).map(([name, { uses = [], types = [] }]) => {
      return [name, { uses: [...uses].sort(), types: [...types].sort() }]
    })
    expect(importedModules()).toEqual(Object.fromEntries(table))
  })

  test('points down: each module uses only modules above it in the table, types included', () => {
    const names = Object.keys(LAYERS)
    for (const [name, { uses = [], types = [] }] of Object.entries(LAYERS)) {
      const lower = names.slice(0, names.indexOf(name))
      expect(lower, name).toEqual(expect.arrayContaining([...uses, ...types]))
    }
  })

  test('has at most twelve floors, types included', () => {
    const floors = floorsOf(sources, moduleOf)
    expect(floors).toBeLessThanOrEqual(12)
    expect(floors).toBeGreaterThan(8)
  })

  test('has no import cycle between files, not even of types', () => {
    expect(cyclesIn(sources)).toEqual([])
  })

  test('imports nothing from outside service/src except for packages', () => {
    expect(violations(({ to, isPackage }) => isPackage || to.startsWith(ROOT))).toEqual([])
  })

  test('uses each package in its place only, and of the plugin only the protocol, except for the console', () => {
    const isAllowed = ({ from, to, isPackage, isType }: Import) => {
      if (!isPackage || to.startsWith('node:')) return true
      const places = PACKAGES[to]
      return !!places && (isType || places.some((place) => from.startsWith(ROOT + place)))
    }
    expect(violations(isAllowed)).toEqual([])
  })

  test('opens network connections in these files only', () => {
    const network = /\bfetch\(|\bWebSocket\(|node:(?:https?|tls|dgram|http2)['"]/
    const files = sources.filter(({ code }) => network.test(code)).map(({ path }) => path.slice(ROOT.length))
    expect(files).toEqual([
      'carriers/http-request.ts',
      'carriers/smtp.ts',
      'http/body-limit.ts',
      'http/headers.ts',
      'http/server.ts',
      'http/streams/accept-stream.ts',
      'safe-fetch/public-agent.ts',
      'serve.ts',
      'service.ts',
      'transcription/engines/engine-server.ts',
      'transcription/live/engine-socket.ts',
      'transcription/sources/from-address.ts',
    ])
  })

  test('has one index.ts, the public API, and no re-export of a whole module', () => {
    expect(sources.filter(({ path }) => path.endsWith('/index.ts')).map(({ path }) => path)).toEqual([
      'service/src/index.ts',
    ])
    expect(sources.filter(({ code }) => /export \*/.test(code)).map(({ path }) => path)).toEqual([])
  })
})
