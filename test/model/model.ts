/*
 * A model of session and flow: what two users in two browsers can do, and what follows. `ana` has a mailbox (weak), a phone (medium) and
 * an authenticator app (strong), `ben` has a phone. Left out: limits, keys, policy, evidence, approvals, pages and outages; codes of an
 * enrollment that is older than six minutes or not the newest; sessions that outlive the waiting period of a recovery.
 */

export type User = 'ana' | 'ben'

/** What must be checked. The model can leave one out, to see that the invariants notice. */
export type Rule = 'gate' | 'once' | 'strongest' | 'own challenge' | 'logout' | 'reset' | 'late' | 'acting'

/** Whether a code counted already; that of the app since the clock last moved. */
interface Code {
  used: boolean
}

export interface Session {
  readonly user: User
  readonly stage: 'pending' | 'verified' | 'trusted' | 'acting'
  /** For the invariants only: a factor that was shown here or elsewhere, or one from before a logout or reset. */
  restsOn: 'nothing' | 'here' | 'elsewhere' | 'ended'
  /** The strongest factor of the last five minutes. While acting, that of the member of staff. */
  fresh: number
  challenge?: Code & { readonly by: 'email' | 'sms'; expired: boolean }
  /** An app waits for its first code. */
  enrolling?: true
  /** A pending login that showed what an open reset requires. */
  mayEnroll?: true
  /** Six minutes of a pending login are over. */
  isLate?: true
}

export interface Browser {
  session?: Session
  /** The users who trust it. */
  trust: Partial<Record<User, true>>
}

export interface State {
  browsers: [Browser, Browser]
  app?: Code
  backup?: Code
  recovery?: 'waiting' | 'ready'
  reset?: Code & { readonly by: 'desk' | 'recovery' }
  /** For the invariants only: what must not happen. */
  wrong?: 'counted twice' | 'weak changed strong' | 'acting lent'
}

export const START: State = { browsers: [{ trust: {} }, { trust: {} }], app: { used: false } }

const [WEAK, MEDIUM, STRONG] = [1, 2, 3] as const
const STRENGTH = { email: WEAK, sms: MEDIUM }

/** Where an action happens, and whether the model follows a rule. */
interface At {
  readonly s: State
  readonly here: Browser
  readonly session: Session | undefined
  holds(rule: Rule): boolean
}

/** Returns whether the action is accepted, or `undefined` if it makes no sense here. */
type Run = (at: At) => boolean | undefined

function newSession(user: User, more: Partial<Session> = {}): Session {
  return { user, stage: 'pending', restsOn: 'nothing', fresh: 0, ...more }
}

const appOf = ({ app, reset }: State) => (reset ? undefined : app)
const strongestOf = (s: State, user: User) => (user === 'ana' && appOf(s) ? STRONG : MEDIUM)

/** Whether no factor of this session can be shown: it acts, or has to enter the code of the help desk or set up a factor. */
const isClosed = ({ reset }: State, { stage, user, mayEnroll }: Session) =>
  stage === 'acting' ||
  (stage === 'pending' && user === 'ana' && (reset?.by === 'desk' || mayEnroll === true))

/** The code of the session's challenge, unless that is over. */
const codeOf = (session?: Session) => (session?.challenge?.expired === false ? session.challenge : undefined)

function spend({ s, holds }: At, code: Code): boolean {
  if (code.used && holds('once')) return false
  if (code.used) s.wrong = 'counted twice'
  code.used = true
  return true
}

function become({ here }: Pick<At, 'here'>, session: Session): true {
  here.session = session
  return true
}

function signIn({ here, session }: At, user: User): true {
  const isAgain = session?.stage === 'pending' && session.user === user
  const challenge = isAgain ? codeOf(session) : undefined
  const trusted = { stage: 'trusted', restsOn: 'here' } as const
  return become({ here }, newSession(user, here.trust[user] ? trusted : challenge && { challenge }))
}

function ask({ s, session }: At, by: 'email' | 'sms'): boolean | undefined {
  if (!session) return undefined
  if (isClosed(s, session) || (by === 'email' && session.user === 'ben')) return false
  session.challenge = { by, expired: false, used: false }
  return true
}

function verify(at: At, code: Code | undefined, strength: number, how?: 'trusting' | 'elsewhere'): boolean {
  const { s, here, session, holds } = at
  if (!session || !code || isClosed(s, session)) return false
  if ((how === 'elsewhere' && holds('own challenge')) || !spend(at, code)) return false
  const isStrongest = Math.max(strength, session.fresh) >= strongestOf(s, session.user)
  here.session = accepted(at, session, strength, how === 'elsewhere' ? how : 'here')
  if (how === 'trusting' && isStrongest && here.session.stage === 'verified') here.trust[session.user] = true
  return true
}

/** What a correct code makes of the session that it was shown in. */
function accepted({ s }: At, session: Session, strength: number, restsOn: Session['restsOn']): Session {
  const { user, stage, fresh } = session
  if (user === 'ana' && strength >= strongestOf(s, user)) delete s.recovery
  if (stage === 'pending' && user === 'ana' && s.reset) return newSession(user, { mayEnroll: true })
  const proof = session.restsOn === 'ended' ? 'ended' : restsOn
  return newSession(user, { stage: 'verified', fresh: Math.max(fresh, strength), restsOn: proof })
}

const ownCode =
  (how?: 'trusting'): Run =>
  (at) => {
    const code = codeOf(at.session)
    return code && !code.used ? verify(at, code, STRENGTH[code.by], how) : undefined
  }

/** Shows the own code. The service evaluates it at once, and its answer arrives after something else. */
const late =
  (meanwhile: Run): Run =>
  (at) => {
    const { s, here, session, holds } = at
    const code = codeOf(session)
    if (!session || !code || code.used || isClosed(s, session)) return undefined
    code.used = true
    if (!meanwhile(at)) return undefined
    const isCurrent = here.session === session
    const next = accepted(at, session, STRENGTH[code.by], isCurrent ? 'here' : 'ended')
    if (isCurrent || !holds('late')) here.session = next
    return isCurrent || !holds('late')
  }

function endTrust({ browsers }: State): true {
  for (const browser of browsers) {
    const { session } = browser
    delete browser.trust.ana
    if (session?.stage === 'trusted' && session.user === 'ana') browser.session = newSession('ana')
  }
  return true
}

/** Ends all sessions of ana but one, also those in which she acts. */
function endSessions({ s, holds }: At, except?: Browser): void {
  for (const browser of s.browsers) {
    const { session } = browser
    if (!session || browser === except || (session.user === 'ben' && session.stage !== 'acting')) continue
    if (holds('reset')) delete browser.session
    else session.restsOn = 'ended'
  }
}

/** Whether the session has just shown a factor that is strong enough to change factors. */
function mayChange({ s, session, holds }: At): boolean {
  const strongest = strongestOf(s, 'ana')
  const fresh = session?.stage === 'verified' ? session.fresh : 0
  if (fresh < (holds('strongest') ? strongest : WEAK)) return false
  if (fresh < strongest) s.wrong = 'weak changed strong'
  return true
}

/** The app of ana is another one, or none. */
function changeApp({ s }: At, app?: Code): true {
  for (const { session } of s.browsers) delete session?.enrolling
  endTrust(s)
  delete s.app
  if (app) s.app = app
  return true
}

function openReset(at: At, by: 'desk' | 'recovery'): true {
  endSessions(at)
  endTrust(at.s)
  delete at.s.recovery
  at.s.reset = { by, used: false }
  return true
}

const reset: Run = (at) => (at.s.app ? openReset(at, 'desk') : undefined)

const logOut: Run = ({ here, session, holds }) => {
  if (session && holds('logout')) delete here.session
  else if (session) session.restsOn = 'ended'
  return session && true
}

/** An action of ana alone. A session that acts is refused it. */
const ofAna =
  (run: (at: At, session: Session) => boolean | undefined): Run =>
  (at) => {
    if (at.session?.stage === 'acting') return false
    return at.session?.user === 'ana' ? run(at, at.session) : undefined
  }

/** The session can use a recovery: it has just shown a factor that is weaker than the app. */
const isWeaker = ({ stage, fresh }: Session) => stage === 'verified' && fresh > 0 && fresh < STRONG

const RUNS = {
  'sign in as ana': (at) => signIn(at, 'ana'),
  'sign in as ben': (at) => signIn(at, 'ben'),
  sms: (at) => ask(at, 'sms'),
  email: (at) => ask(at, 'email'),
  'own code': (at) => ownCode()(at) ?? false,
  'own code, trusting': ownCode('trusting'),
  'own code twice at once': ownCode(),
  'own code, evaluated twice'({ s, session }) {
    const code = codeOf(session)
    if (!session || !code || code.used || session.stage === 'acting') return undefined
    code.used = !isClosed(s, session)
    return false
  },
  'own code, answered after logout': late(logOut),
  'own code, answered after sign-in': late((at) => signIn(at, at.session?.user ?? 'ana')),
  'own code, answered after reset': late(reset),
  'code of the other browser'(at) {
    const there = at.s.browsers.find((browser) => browser !== at.here)?.session
    const [own, other] = [codeOf(at.session), codeOf(there)]
    if (!own || own.by !== other?.by || at.session?.user !== there?.user) return undefined
    return verify(at, other, STRENGTH[other.by], 'elsewhere')
  },
  'app code': ofAna((at) => verify(at, appOf(at.s), STRONG)),
  'app code, trusting': ofAna((at) => verify(at, appOf(at.s), STRONG, 'trusting')),
  'backup code': ofAna((at) => at.s.backup && verify(at, at.s.backup, WEAK) && endTrust(at.s)),
  'bypass code': ofAna((at, { stage, mayEnroll }) => {
    if (at.s.reset?.by !== 'desk') return undefined
    if (stage !== 'pending' || mayEnroll || !spend(at, at.s.reset)) return false
    return become(at, newSession('ana', { mayEnroll: true }))
  }),
  'step-up'({ s, session, holds }) {
    if (session?.stage !== 'acting' || holds('acting'))
      return session?.stage === 'verified' && session.fresh > 0
    s.wrong = 'acting lent'
    return true
  },
  enroll: ofAna((at, session) => {
    if (!session.mayEnroll && !mayChange(at)) return false
    for (const { session: other } of at.s.browsers) delete other?.enrolling
    session.enrolling = true
    return true
  }),
  confirm: ofAna((at, session) => {
    const { s, here } = at
    if (!session.enrolling) return undefined
    if (s.app?.used) return false
    if (s.reset) endSessions(at, here)
    delete s.reset
    here.session = accepted(at, session, STRONG, 'here')
    return changeApp(at, { used: true })
  }),
  'new backup codes': ofAna((at) => {
    if (!mayChange(at)) return false
    at.s.backup = { used: false }
    return true
  }),
  remove: ofAna((at) => appOf(at.s) !== undefined && mayChange(at) && changeApp(at)),
  recover: ofAna(({ s }, session) => {
    if (!appOf(s)) return undefined
    if (isWeaker(session)) s.recovery ??= 'waiting'
    return isWeaker(session)
  }),
  complete: ofAna((at, session) => {
    if (!appOf(at.s) || !at.s.recovery) return undefined
    if (at.s.recovery === 'waiting' || !isWeaker(session)) return false
    return openReset(at, 'recovery') && become(at, newSession('ana', { mayEnroll: true }))
  }),
  act: ofAna(
    (at, { fresh, restsOn }) =>
      mayChange(at) && become(at, newSession('ben', { stage: 'acting', fresh, restsOn })),
  ),
  stop: (at) =>
    at.session?.stage === 'acting'
      ? become(at, { ...at.session, user: 'ana', stage: 'verified' })
      : undefined,
  'log out': logOut,
  reset,
  /** Six minutes: longer than a code or a fresh factor counts, shorter than a pending login lives. */
  minutes({ s }) {
    if (s.app) s.app.used = false
    for (const browser of s.browsers) {
      const { session } = browser
      if (!session) continue
      session.fresh = 0
      delete session.enrolling
      if (session.challenge) session.challenge.expired = true
      if (session.isLate) delete browser.session
      else if (session.stage === 'pending') session.isLate = true
    }
    return true
  },
  /** Both users log out everywhere, and the waiting period of the recovery passes. */
  day({ s }) {
    if (s.recovery !== 'waiting') return undefined
    s.recovery = 'ready'
    if (s.app) s.app.used = false
    for (const browser of s.browsers) delete browser.session
    return true
  },
} satisfies Record<string, Run>

/** Something that happens: in one of the browsers, or elsewhere. */
export interface Action {
  readonly what: keyof typeof RUNS
  readonly at?: 0 | 1
}

/** Everything that can happen. */
export const ACTIONS = (Object.keys(RUNS) as Action['what'][]).flatMap((what): Action[] => {
  const places = ['reset', 'minutes', 'day'].includes(what) ? [{}] : ([{ at: 0 }, { at: 1 }] as const)
  return places.map((place) => ({ what, ...place }))
})

/** What follows from an action, or `undefined` if it makes no sense in this state. `broken` is a rule that does not hold. */
export function step(from: State, action: Action, broken?: Rule): { to: State; ok: boolean } | undefined {
  const s = structuredClone(from)
  const here = s.browsers[action.at ?? 0]
  const ok = RUNS[action.what]({ s, here, session: here.session, holds: (rule) => rule !== broken })
  return ok === undefined ? undefined : { to: s, ok }
}
