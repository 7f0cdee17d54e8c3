/*
 * A model of session and flow: what two users in two browsers can do, and what follows. `ana` has a mailbox (weak), a phone (medium) and
 * an authenticator app (strong), `ben` has a phone. To be closed, it does without: trust of ben; used codes of a challenge, which are as
 * none; backup codes and half minutes of the app that run out; codes that expire before their pending login; codes of an enrollment that
 * is older than eleven minutes or not the newest; sessions that outlive the waiting period of a recovery; limits, keys, policy, outages.
 */

export type User = 'ana' | 'ben'

/** The checks that must be made. The model can leave one out, to see that the invariants notice. */
export type Rule = 'gate' | 'once' | 'strongest' | 'own challenge' | 'logout' | 'reset' | 'late' | 'acting'

export interface Session {
  readonly user: User
  readonly stage: 'pending' | 'verified' | 'trusted' | 'acting'
  /** For the invariants only: a factor that was shown here or elsewhere, or one from before a logout or reset. */
  restsOn: 'nothing' | 'here' | 'elsewhere' | 'ended'
  /** The strongest factor of the last five minutes. While acting, that of the member of staff. */
  fresh: number
  /** A code was sent, which has not been used or expired. */
  challenge?: 'email' | 'sms'
  /** An app waits for its first code. */
  enrolling?: true
  /** A pending login that showed what an open reset requires. */
  mayEnroll?: true
}

export interface Browser {
  session?: Session
  /** Ana trusts it. */
  trusted?: true
}

export interface State {
  browsers: [Browser, Browser]
  app?: true
  recovery?: 'waiting' | 'ready'
  /** After a reset by the help desk, ana has to enter its bypass code, once. */
  reset?: { readonly by: 'desk' | 'recovery'; used?: true }
  /** For the invariants only: what must not happen. */
  wrong?: 'counted twice' | 'weak changed strong' | 'acting lent'
}

export const START: State = { browsers: [{}, {}], app: true }

const [WEAK, MEDIUM, STRONG] = [1, 2, 3] as const
export const STRENGTH = { email: WEAK, sms: MEDIUM, app: STRONG }

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

function become({ here }: Pick<At, 'here'>, session: Session): true {
  here.session = session
  return true
}

function signIn({ here, session }: At, user: User): true {
  const isAgain = session?.stage === 'pending' && session.user === user
  const challenge = isAgain ? session.challenge : undefined
  const trusted = user === 'ana' && here.trusted && ({ stage: 'trusted', restsOn: 'here' } as const)
  return become({ here }, newSession(user, trusted || (challenge && { challenge })))
}

function ask({ s, session }: At, by: 'email' | 'sms'): boolean | undefined {
  if (!session) return undefined
  if (isClosed(s, session) || (by === 'email' && session.user === 'ben')) return false
  session.challenge = by
  return true
}

function verify(at: At, session: Session, strength: number, how?: 'trusting' | 'elsewhere'): true {
  const { s, here } = at
  const isStrongest = Math.max(strength, session.fresh) >= strongestOf(s, session.user)
  here.session = accepted(at, session, strength, how === 'elsewhere' ? how : 'here')
  if (how === 'trusting' && isStrongest && here.session.stage === 'verified') here.trusted = true
  return true
}

/** Shows a code of the app, or a backup code. */
const show = (by: 'app' | 'backup', how?: 'trusting' | 'used') =>
  ofAna((at, session) => {
    if (isClosed(at.s, session) || (by === 'app' && !appOf(at.s))) return false
    if (how === 'used' && at.holds('once')) return false
    if (how === 'used') at.s.wrong = 'counted twice'
    verify(at, session, by === 'app' ? STRONG : WEAK, how === 'trusting' ? how : undefined)
    return by === 'app' || endTrust(at.s)
  })

/** The session that a correct code makes of the one that it was shown in. */
function accepted({ s }: At, session: Session, strength: number, restsOn: Session['restsOn']): Session {
  const { user, stage, fresh } = session
  if (user === 'ana' && strength >= strongestOf(s, user)) delete s.recovery
  if (stage === 'pending' && user === 'ana' && s.reset) return newSession(user, { mayEnroll: true })
  const proof = session.restsOn === 'ended' ? 'ended' : restsOn
  return newSession(user, { stage: 'verified', fresh: Math.max(fresh, strength), restsOn: proof })
}

/** Shows the code that was sent to the session. */
function ownCode(at: At, how?: 'trusting'): boolean | undefined {
  const { s, session } = at
  if (!session?.challenge || isClosed(s, session)) return undefined
  return verify(at, session, STRENGTH[session.challenge], how)
}

/** Shows the own code. The service evaluates it at once, and its answer arrives after something else. */
function late(at: At, meanwhile: Run): boolean | undefined {
  const { s, here, session, holds } = at
  if (!session?.challenge || isClosed(s, session)) return undefined
  const strength = STRENGTH[session.challenge]
  delete session.challenge
  if (!meanwhile(at)) return undefined
  const next = accepted(at, session, strength, here.session === session ? 'here' : 'ended')
  if (here.session !== session && holds('late')) return false
  return become(at, next)
}

function endTrust({ browsers }: State): true {
  for (const browser of browsers) {
    const { session } = browser
    delete browser.trusted
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
  if (fresh < (holds('strongest') ? strongest : MEDIUM)) return false
  if (fresh < strongest) s.wrong = 'weak changed strong'
  return true
}

/** The app of ana is another one, or none. */
function changeApp({ s }: At): true {
  for (const { session } of s.browsers) delete session?.enrolling
  delete s.app
  return endTrust(s)
}

function openReset(at: At, by: 'desk' | 'recovery'): true {
  endSessions(at)
  endTrust(at.s)
  delete at.s.recovery
  at.s.reset = { by }
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

/** Whether the session can use a recovery: it has just shown a factor that is weaker than the app. */
const isWeaker = ({ stage, fresh }: Session) => stage === 'verified' && fresh > 0 && fresh < STRONG

const RUNS = {
  'sign in as ana': (at) => signIn(at, 'ana'),
  'sign in as ben': (at) => signIn(at, 'ben'),
  sms: (at) => ask(at, 'sms'),
  email: (at) => ask(at, 'email'),
  'own code': (at) => ownCode(at) ?? false,
  'own code, trusting': ofAna((at) => ownCode(at, 'trusting')),
  'own code twice at once': (at) => ownCode(at),
  'own code, evaluated twice'({ s, session }) {
    if (!session?.challenge || session.stage === 'acting') return undefined
    if (!isClosed(s, session)) delete session.challenge
    return false
  },
  'own code, answered after logout': (at) => late(at, logOut),
  'own code, answered after sign-in': (at) => late(at, () => signIn(at, at.session?.user ?? 'ana')),
  'own code, answered after reset': (at) => late(at, reset),
  'code of the other browser'(at) {
    const there = at.s.browsers.find((browser) => browser !== at.here)?.session
    const { s, session, holds } = at
    if (!session?.challenge || session.challenge !== there?.challenge) return undefined
    if (session.user !== there.user) return undefined
    if (isClosed(s, session) || holds('own challenge')) return false
    return verify(at, session, STRENGTH[session.challenge], 'elsewhere')
  },
  'app code': show('app'),
  'app code, trusting': show('app', 'trusting'),
  'used app code': show('app', 'used'),
  'backup code': show('backup'),
  'used backup code': show('backup', 'used'),
  'bypass code': ofAna((at, { stage, mayEnroll }) => {
    const { reset } = at.s
    if (reset?.by !== 'desk') return undefined
    if (stage !== 'pending' || mayEnroll || (reset.used && at.holds('once'))) return false
    if (reset.used) at.s.wrong = 'counted twice'
    reset.used = true
    return become(at, newSession('ana', { mayEnroll: true }))
  }),
  'step-up'({ s, session, holds }) {
    if (session?.stage === 'acting' && !holds('acting')) s.wrong = 'acting lent'
    return s.wrong !== undefined || (session?.stage === 'verified' && session.fresh > 0)
  },
  enroll: ofAna((at, session) => {
    // The approval that is asked for replaces it.
    if (session.stage !== 'pending') delete session.challenge
    if (!session.mayEnroll && !mayChange(at)) return false
    for (const { session: other } of at.s.browsers) delete other?.enrolling
    session.enrolling = true
    return true
  }),
  confirm: ofAna((at, session) => {
    const { s, here } = at
    if (!session.enrolling) return undefined
    if (s.reset) endSessions(at, here)
    delete s.reset
    here.session = accepted(at, session, STRONG, 'here')
    changeApp(at)
    s.app = true
    return true
  }),
  'new backup codes': ofAna(mayChange),
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
  stop(at) {
    if (at.session?.stage !== 'acting') return undefined
    return become(at, { ...at.session, user: 'ana', stage: 'verified' })
  },
  'log out': logOut,
  reset,
  /** Eleven minutes: longer than a code, a fresh factor or a pending login counts. */
  minutes({ s }) {
    for (const browser of s.browsers) {
      const { session } = browser
      if (!session) continue
      session.fresh = 0
      delete session.enrolling
      delete session.challenge
      if (session.stage === 'pending') delete browser.session
    }
    return true
  },
  /** Both users log out everywhere, and the waiting period of the recovery passes. */
  day({ s }) {
    if (s.recovery !== 'waiting') return undefined
    s.recovery = 'ready'
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

/** The state after an action, or `undefined` if it makes no sense in this state. `broken` is a rule that does not hold. */
export function step(from: State, action: Action, broken?: Rule): { to: State; ok: boolean } | undefined {
  const s = structuredClone(from)
  const here = s.browsers[action.at ?? 0]
  const ok = RUNS[action.what]({ s, here, session: here.session, holds: (rule) => rule !== broken })
  return ok === undefined ? undefined : { to: s, ok }
}
