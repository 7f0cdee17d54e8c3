import { createServer } from 'node:http'
import { MemoryStore } from 'express-session'
import { createMfa } from '../../src/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { testCarrier, testInbox } from '../../src/testing/carrier.js'
import { type TestService, testService, totpCode } from '../../src/testing/service.js'
import { HOUR, MINUTE, type stopClock } from '../kit/clock.js'
import { forgivingStore } from '../kit/counters.js'
import { addActingRoutes, host, type TestUser } from '../kit/host.js'
import { jsonBrowser } from '../kit/json-browser.js'
import { lateService } from '../kit/late-service.js'
import { listenOnLoopback } from '../kit/loopback.js'
import { textOf } from './explore.js'
import {
  type Action,
  type Browser as ModelBrowser,
  type Rule,
  START,
  STRENGTH,
  type State,
  step,
} from './model.js'

const sms = (phone: string) => ({ method: 'sms', phone }) as const
const mail = { method: 'email', email: 'ana@example.com' } as const
const ana: TestUser = { id: 'ana', email: mail.email, factors: [sms('+447700900101'), mail] }
const contact = { kind: 'email', email: mail.email } as const
const FACTORS = ['app', 'sms', 'email'] as const
const ben: TestUser = { id: 'ben', email: '', factors: [sms('+447700900102')] }

type What = Action['what']
type Clock = ReturnType<typeof stopClock>

/** The real plugin in an app, and the service of the test kit, in one process. `flaw` is a check that the app or a part of it lacks. */
async function openPlugin(clock: Clock, flaw?: Rule) {
  const inbox = testInbox()
  const kit = testService(testCarrier(inbox))
  const { service, ...answers } = lateService({
    ...kit.service,
    verify: async (typed) =>
      flaw === 'once' || flaw === 'own challenge' ? { outcome: 'valid' } : kit.service.verify(typed),
    // Without the app, the phone is the strongest factor.
    factorsOf: async (asked) =>
      flaw === 'strongest' ? { existing: [], backupCodesLeft: 0 } : kit.service.factorsOf(asked),
  } satisfies TestService)
  const counters = forgivingStore()
  const items = memoryStore()
  const put: typeof items.put = async (owner, item) => {
    if (!owner.startsWith('cutoff:')) await items.put(owner, item)
  }
  const store = new MemoryStore()
  if (flaw === 'late') store.destroy = (_id, done) => done?.()
  const made = host({
    store,
    users: { ana, ben },
    options: {
      service,
      limits: { store: counters.store },
      trustedDevices: { store: flaw === 'reset' ? { ...items, put } : items },
      urls: { publicUrl: 'https://shop.example' },
      recovery: { onNotice: () => {}, onFactorsEnded: () => {} },
    },
    beforeGate(app, auth) {
      app.use(auth.initialize())
      // An app that reads the user from the session itself.
      if (flaw === 'gate')
        app.get('/secret', ({ session }, res) => void res.json(Reflect.get(session, 'mfa')))
    },
    behindGate(app) {
      if (flaw === 'logout') app.post('/logout', (_req, res) => void res.json({}))
      if (flaw === 'acting')
        app.post('/transfer', (req, res, next) => (req.mfa?.actor ? res.json({}) : next()))
    },
    routes: (app, options) => addActingRoutes(app, createMfa(options), () => ben),
  })
  const { account } = createMfa(made.mfa)
  const server = createServer(made.app)
  const port = await listenOnLoopback(server)
  // The code of an app is for half a minute.
  clock.set(Math.ceil(Date.now() / MINUTE) * MINUTE)
  let [appSecret, bypass] = [kit.enroll(mail.email), '']
  const newBrowser = () => ({ send: jsonBrowser(port), signsIn: '', code: '', secret: '' })
  const browsers = [newBrowser(), newBrowser()] as const
  type Browser = (typeof browsers)[0]

  const backup = () => inbox.newest(mail.email).code
  const code = (typed: string, more: object = {}) => ['/mfa/verify', { code: typed, ...more }] as const
  const own = (browser: Browser) => code(browser.code)
  const requests: Partial<Record<What, (browser: Browser) => readonly [path: string, body?: object]>> = {
    'sign in as ana': () => ['/login', { name: 'ana' }],
    'sign in as ben': () => ['/login', { name: 'ben' }],
    sms: () => ['/mfa/challenge', { factor: 'sms' }],
    email: () => ['/mfa/challenge', { factor: 'email' }],
    'own code, trusting': (browser) => code(browser.code, { trust: true }),
    'code of the other browser': (browser) => own(browsers[browser === browsers[0] ? 1 : 0]),
    'app code': () => code(totpCode(appSecret), { factor: 'app' }),
    'app code, trusting': () => code(totpCode(appSecret), { factor: 'app', trust: true }),
    'backup code': () => code(backup(), { factor: 'backup' }),
    'bypass code': () => code(bypass, { factor: 'bypass' }),
    'step-up': () => ['/transfer'],
    enroll: () => ['/mfa/enroll-app'],
    confirm: ({ secret }) => ['/mfa/enroll-app/confirm', { code: totpCode(secret) }],
    'new backup codes': () => ['/mfa/backup'],
    remove: () => ['/mfa/enroll-app/remove'],
    recover: () => ['/mfa/recover'],
    complete: () => ['/mfa/recover/complete'],
    act: () => ['/act/ben'],
    stop: () => ['/stop'],
    'log out': () => ['/logout'],
  }

  /** Approves by a factor that is at most as strong as what the browser has just shown. If none is accepted, refuses the approval. */
  async function isApproved({ send }: Browser, approval: unknown, fresh: number): Promise<boolean> {
    for (const factor of FACTORS.filter((known) => STRENGTH[known] <= fresh)) {
      const asked = await send('POST', '/mfa/challenge', { factor, approval })
      if (!asked.isOk) continue
      for (const app of kit.apps.values()) app.lastStep = 0
      const typed = factor === 'app' ? totpCode(appSecret) : inbox.newest().code
      if ((await send('POST', '/mfa/verify', { code: typed, factor, approval })).isOk) return true
    }
    await send('POST', '/mfa/cancel', { approval })
    return false
  }

  async function ask(
    browser: Browser,
    [path, body = {}]: readonly [string, object?],
    fresh = 0,
  ): Promise<boolean> {
    const post = () => browser.send('POST', path, body)
    let answer = await post()
    const { id } = answer.body.approval ?? {}
    if (id && (await isApproved(browser, id, fresh))) answer = await post()
    if (!answer.isOk) return false
    if (path === '/login') browser.signsIn = Reflect.get(body, 'name')
    if (path === '/mfa/challenge') browser.code = inbox.newest().code
    if (path === '/mfa/enroll-app') browser.secret = answer.body.secret ?? ''
    if (path === '/mfa/enroll-app/confirm') appSecret = browser.secret
    return true
  }

  /** Codes do not run out: half a minute of the app passes, or new ones are sent. A used one is used elsewhere. */
  async function prepare(what: What): Promise<void> {
    for (const app of kit.apps.values()) app.lastStep = 0
    if (what.endsWith('backup code')) await kit.service.sendBackupCodes({ contact, method: 'email' })
    if (what === 'used app code')
      await kit.service.verify({ contact, method: 'app', kind: 'code', code: totpCode(appSecret) })
    if (what === 'used backup code')
      await kit.service.verify({ contact, method: 'email', kind: 'backup', code: backup() })
  }

  async function elsewhere(what: What): Promise<true> {
    if (what === 'minutes') clock.move(11 * MINUTE)
    else if (what === 'reset') {
      bypass = (await account.reset(ana, { by: 'desk', reason: 'lost phone', factors: ['app'] })).code
    } else {
      for (const browser of browsers) await ask(browser, ['/logout'])
      clock.move(12 * HOUR)
      await account.sendRecoveryNotices()
      clock.move(12 * HOUR)
    }
    return true
  }

  async function inBrowser(browser: Browser, what: What, fresh: number | undefined): Promise<boolean> {
    const [, after] = what.split('answered after ')
    await prepare(what)
    const held = after && answers.hold()
    if (what === 'own code, evaluated twice') answers.double()
    const request = () => ask(browser, (requests[what.replace('used ', '') as What] ?? own)(browser), fresh)
    const asked = what === 'own code twice at once' ? [request(), request()] : [request()]
    if (held) {
      await Promise.race([held.evaluated, ...asked])
      if (after === 'reset') await elsewhere(after)
      else await ask(browser, after === 'logout' ? ['/logout'] : ['/login', { name: browser.signsIn }])
      clock.move(1)
      held.release()
    }
    return (await Promise.all(asked)).filter(Boolean).length === 1
  }

  return {
    /** `before` is the state of the model before it. */
    async perform({ what, at }: Action, before: State): Promise<boolean> {
      clock.move(1)
      const isAccepted = await (at === undefined
        ? elsewhere(what)
        : inBrowser(browsers[at], what, before.browsers[at].session?.fresh))
      clock.move(1)
      counters.forgive()
      return isAccepted
    },
    looks: () => Promise.all(browsers.map(({ send }) => lookOf(send))),
    close: () => server.close(),
  }
}

async function lookOf(send: ReturnType<typeof jsonBrowser>): Promise<string> {
  const { user, mfa } = (await send('GET', '/secret')).body
  if (user) return `${user} ${mfa?.actor ? 'acting' : mfa?.trusted ? 'trusted' : mfa?.status}`
  const { status, bypass, enroll } = (await send('GET', '/mfa')).body
  if (status !== 'pending') return 'out'
  return bypass ? 'pending, bypass code' : enroll ? 'pending, enrollment' : 'pending'
}

/** Does what the actions say with the real plugin. Returns where it differs from the model, or an empty text. */
export async function replay(clock: Clock, actions: readonly Action[], flaw?: Rule): Promise<string> {
  const { perform, looks, close } = await openPlugin(clock, flaw)
  let state = START
  for (const [index, action] of actions.entries()) {
    const expected = step(state, action)
    if (!expected) throw new Error(`The model does not know what "${textOf([action])}" is here.`)
    const plugin = [await perform(action, state).catch(String), ...(await looks())].join(' | ')
    state = expected.to
    const model = [expected.ok, ...state.browsers.map((browser) => expectedLook(browser, state))].join(' | ')
    if (model === plugin) continue
    close()
    return `${textOf(actions.slice(0, index + 1))}\n  model:  ${model}\n  plugin: ${plugin}`
  }
  close()
  return ''
}

/** The stage that a browser shows if the plugin follows the model. */
function expectedLook({ session }: ModelBrowser, { reset }: State): string {
  if (!session) return 'out'
  const { user, stage, mayEnroll } = session
  if (stage !== 'pending') return `${user} ${stage}`
  if (mayEnroll) return 'pending, enrollment'
  return user === 'ana' && reset?.by === 'desk' ? 'pending, bypass code' : 'pending'
}
