import { createServer } from 'node:http'
import { SWITCHED_METHODS } from '../../service/dist/application.js'
import { httpApi } from '../../service/dist/http/api.js'
import { limitsSchema } from '../../service/dist/limits.js'
import { keysFrom } from '../../service/dist/secrets/keys.js'

// The service's own Express app, routes and verbs; only the store answers at once, that the code was right.
const row = { locked: false, disabled: false, ok: true, locked_until: 0, locks_until: null }
const store = { name: 'none', query: async () => [row], transaction: (work) => work(store) }
const application = {
  id: 'default',
  mode: 'live',
  name: 'Bench',
  origin: undefined,
  locale: 'en',
  tier: 'enterprise',
  methods: SWITCHED_METHODS,
  countries: [],
  limits: limitsSchema.parse({}),
}
const core = {
  store,
  keys: keysFrom('a secret for benchmarks, long enough to be taken'),
  outbox: {},
  log() {},
}
const server = createServer(httpApi(core, async () => application, {}))
server.listen(0, () => console.log(`The bare app listens on http://localhost:${server.address().port}`))
