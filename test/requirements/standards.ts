import type { Requirement } from './citations.js'

/** Who answers for a point of a standard: this package, both, your app, neither, or the point does not apply. */
type Answer = 'met' | 'shared' | 'host' | 'not met' | 'none'

/** A point of a standard, or several that have one answer: `6.2.1 to 6.2.12`. */
type Row = readonly [
  points: string,
  subject: string,
  answer: Answer,
  /** The duty of the host, or the reason why it is not met or does not apply. */
  note?: string,
  /** Requirements and test files beside those whose source cites the point. */
  also?: readonly string[],
]

/** The requirements of a standard about multi-factor authentication. Subjects are ours, so read the points in the standard itself. */
export interface Standard {
  readonly title: string
  readonly address: string
  /** How the sources of the requirements name it, before the number of a point. */
  readonly source: string
  /** The highest point of each section, so that none is left out: `6.3` has 8. Absent where only the cited sections are listed. */
  readonly sections?: Readonly<Record<string, number>>
  readonly rows: readonly Row[]
}

const OIDC = 'service/test/console/oidc.operation.test.ts'
const NO_SERVER = 'Countersign issues no OAuth tokens'
const YOUR_SESSION = 'express-session is yours'

export const STANDARDS: readonly Standard[] = [
  {
    title: 'OWASP ASVS 5.0, chapters 6, 7, 10 and 16',
    address: 'https://owasp.org/www-project-application-security-verification-standard/',
    source: 'ASVS',
    sections: {
      ...{ '6.1': 3, '6.2': 12, '6.3': 8, '6.4': 6, '6.5': 8, '6.6': 4, '6.7': 2, '6.8': 4 },
      ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 3, '7.6': 2 },
      ...{ '10.1': 2, '10.2': 3, '10.3': 5, '10.4': 16, '10.5': 5, '10.6': 2, '10.7': 3 },
      ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 4 },
    },
    rows: [
      [
        '6.1.1',
        'documented limits on guessing',
        'shared',
        'limit and document guesses at passwords',
        ['R22', 'R23', 'R26'],
      ],
      ['6.1.2', 'documented words that no password may hold', 'host', 'passwords are yours'],
      [
        '6.1.3',
        'documented ways to sign in',
        'shared',
        'document your logins; all of them end in the same pending login',
      ],
      ['6.2.1 to 6.2.12', 'passwords', 'host', 'passwords are yours'],
      [
        '6.3.1',
        'protection against guessing',
        'shared',
        'limit guesses at passwords',
        ['R20', 'R22', 'R23', 'R32'],
      ],
      ['6.3.2', 'no default accounts', 'shared', 'create none; the console has none', ['R106']],
      [
        '6.3.3',
        'a second factor',
        'shared',
        'let `policy` return `require`; for level 3, `phishing-resistant`',
        ['R115', 'R116'],
      ],
      [
        '6.3.4',
        'no login without it',
        'shared',
        'run `countersign check` or `expectNoMfaBypass` on your app',
      ],
      ['6.3.5', 'notices of suspicious attempts', 'shared', 'send the notices that `onNotice` gets'],
      ['6.3.6', 'no email as a factor', 'shared', 'list no `email` in `factors`'],
      [
        '6.3.7',
        'notices of changes',
        'shared',
        'send the notices that `onNotice` gets',
        ['R61', 'R63', 'R94'],
      ],
      ['6.3.8', 'nothing says whether a user exists', 'shared', 'the answers of your login'],
      ['6.4.1', 'first secrets are random and short-lived', 'met', '', ['R95']],
      ['6.4.2', 'no secret questions', 'met', 'nothing asks any', ['R94']],
      ['6.4.3', 'a new password keeps the second factor', 'shared', 'sign in with `req.logIn` after a reset'],
      [
        '6.4.4',
        'proof of identity after a loss',
        'shared',
        'your help desk verifies whom it talks to',
        ['R94', 'R95'],
      ],
      ['6.4.5', 'reminders before a factor expires', 'none', 'no factor expires'],
      [
        '6.4.6',
        'administrators choose no password',
        'shared',
        'the administrators of your app; operators of the console choose none',
        ['R106'],
      ],
      ['6.5.1', 'codes work once', 'met', '', ['R60']],
      [
        '6.5.2',
        'stored backup codes',
        'not met',
        'no password hash: see [where the sources disagree](requirements.md#where-the-sources-disagree)',
      ],
      ['6.5.3', 'random codes and secrets', 'met', '', ['R53', 'R58']],
      ['6.5.4', 'enough entropy', 'met'],
      [
        '6.5.5',
        'lifetimes',
        'not met',
        'the code of an app is accepted for one step of 30 seconds after its own (RFC 6238 §5.2)',
      ],
      ['6.5.6', 'every factor can be revoked', 'met', '', ['R26', 'R95']],
      ['6.5.7', 'biometrics only beside something else', 'met', 'a passkey proves possession, too', ['R107']],
      ['6.5.8', 'a trusted clock', 'met'],
      [
        '6.6.1',
        'validated phone numbers, stronger methods beside them',
        'shared',
        'validate numbers before `factors` lists them; for level 3, list none',
      ],
      ['6.6.2', 'codes bound to their request', 'met'],
      ['6.6.3', 'guesses at codes', 'met', '', ['R43']],
      ['6.6.4', 'push notifications', 'none', 'none are sent'],
      [
        '6.7.1',
        'certificates cannot be changed',
        'shared',
        'protect the database of the service',
        ['R102', 'R106'],
      ],
      ['6.7.2', 'challenges', 'met'],
      ['6.8.1', 'users of several providers', 'shared', 'find users by issuer and subject', ['R109', OIDC]],
      ['6.8.2', 'signatures of assertions', 'shared', 'your strategy verifies them', [OIDC]],
      ['6.8.3', 'SAML assertions count once', 'host', 'your strategy keeps them'],
      ['6.8.4', 'strength and time from a provider', 'met', '', ['R109', 'R110', 'R113']],
      ['7.1.1 to 7.1.3', 'documented sessions', 'host', YOUR_SESSION],
      ['7.2.1', 'sessions are verified on the server', 'shared', YOUR_SESSION, ['R04']],
      ['7.2.2', 'dynamic tokens', 'host', YOUR_SESSION],
      ['7.2.3', 'random tokens', 'shared', YOUR_SESSION],
      ['7.2.4', 'a new token at each sign-in', 'met'],
      ['7.3.1 to 7.3.2', 'timeouts', 'host', `${YOUR_SESSION}; a session of the console ends after 12 hours`],
      ['7.4.1', 'an ended session stays ended', 'shared', 'destroy the session at logout'],
      ['7.4.2', 'a disabled account has no sessions', 'shared', 'call `account.secure(user)`', ['R106']],
      [
        '7.4.3',
        'ending other sessions after a change of factors',
        'shared',
        'offer it with `account.secure(user)`',
        ['R94'],
      ],
      ['7.4.4', 'a visible logout', 'host', 'your pages'],
      ['7.4.5', 'administrators end sessions', 'shared', 'call `account.secure(user)`', ['R106']],
      [
        '7.5.1',
        'a fresh factor before changes of the account',
        'shared',
        'put `requireStrongest` before your own routes',
        ['R92', 'R136'],
      ],
      ['7.5.2', 'users see and end sessions', 'shared', 'list sessions; trusted devices have a page'],
      [
        '7.5.3',
        'a fresh factor before sensitive operations',
        'shared',
        'put `requireMfa` before your routes',
      ],
      ['7.6.1', 'sessions of a provider', 'shared', 'set `maxAge` for the issuer', ['R110', 'R113']],
      ['7.6.2', 'no session without an action of the user', 'host', 'your login'],
      ['10.1.1', 'tokens reach only who needs them', 'met', 'the console keeps no token', [OIDC]],
      [
        '10.1.2',
        'answers belong to the session that asked',
        'met',
        'state, nonce and PKCE of the console',
        [OIDC],
      ],
      ['10.2.1', 'forged answers', 'met', 'of the console', [OIDC]],
      ['10.2.2', 'several authorization servers', 'none', 'the console has one'],
      ['10.2.3', 'least scopes', 'met', 'the console asks for `openid email`, or what you set', [OIDC]],
      ['10.3.1 to 10.3.5', 'resource servers', 'none', 'the API of the service has keys, and no tokens'],
      ['10.4.1 to 10.4.16', 'authorization servers', 'none', NO_SERVER],
      ['10.5.1 to 10.5.5', 'ID tokens and back-channel logout', 'met', 'in the console', [OIDC]],
      ['10.6.1 to 10.6.2', 'OpenID providers', 'none', NO_SERVER],
      ['10.7.1 to 10.7.3', 'consent', 'none', NO_SERVER],
      [
        '16.1.1',
        'an inventory of logs',
        'host',
        'list your logs; [events](../events.md) has those of the plugin',
      ],
      ['16.2.1', 'who, when, what', 'shared', 'write `req.mfa.actor` into your own log', ['R89']],
      ['16.2.2', 'synchronized clocks, UTC', 'shared', 'synchronize the clocks of your machines', ['R89']],
      ['16.2.3', 'logs go where documented', 'host', 'your `logger` and the output of the service'],
      ['16.2.4', 'a common format', 'met', 'JSON lines of the service, objects of `onEvent`', ['R89']],
      ['16.2.5', 'no secrets in logs', 'met', '', ['R46']],
      ['16.3.1', 'every authentication is logged', 'shared', 'write what `onEvent` gets into your log'],
      [
        '16.3.2',
        'refused authorization is logged',
        'shared',
        'your own routes; `refused` is an event',
        ['R89'],
      ],
      [
        '16.3.3',
        'attempts to get around controls are logged',
        'shared',
        'write what `onEvent` gets into your log',
        ['R103'],
      ],
      ['16.3.4', 'failures are logged', 'met', '', ['R77', 'R101']],
      ['16.4.1', 'no forged lines', 'shared', 'encode what `onEvent` gets, as JSON for example'],
      ['16.4.2 to 16.4.3', 'protected and forwarded logs', 'host', 'your logs'],
      ['16.5.1', 'generic errors', 'shared', 'the error handler of your app'],
      ['16.5.2', 'other systems fail', 'met'],
      ['16.5.3', 'nothing fails open', 'met', '', ['R131']],
      ['16.5.4', 'a last error handler', 'shared', 'the error handler of your app', ['R99']],
    ],
  },
  {
    title: 'NIST SP 800-63B-4, the sections that the requirements cite',
    address: 'https://pages.nist.gov/800-63-4/sp800-63b.html',
    source: 'NIST',
    rows: [
      ['§2.1.3', 'reauthentication', 'shared', 'end sessions in time', ['R17']],
      ['§3.1.2', 'look-up secrets', 'met', '', ['R58', 'R60']],
      [
        '§3.1.2.2',
        'stored look-up secrets',
        'not met',
        'no password hash below 112 bits: see [where the sources disagree](requirements.md#where-the-sources-disagree)',
      ],
      [
        '§3.1.3',
        'out-of-band devices',
        'shared',
        'email is no such device: list no `email` in `factors`',
        ['R38'],
      ],
      ['§3.1.3.1', 'out-of-band authenticators', 'shared', 'list no `email` in `factors`'],
      ['§3.1.3.2', 'out-of-band verifiers', 'met'],
      ['§3.1.3.3', 'the telephone network', 'shared', 'validate numbers, and set `SERVICE_PHONE_CHECK_URL`'],
      ['§3.1.4', 'one-time passwords', 'met'],
      ['§3.1.4.2', 'verifiers of one-time passwords', 'met'],
      [
        '§3.2.2',
        'rate limiting',
        'shared',
        'limit guesses at passwords; a success here forgives less than it should',
      ],
      ['§4.1', 'binding', 'shared', 'prove who registers', ['R55']],
      ['§4.1.2', 'binding a further authenticator', 'met'],
      ['§4.1.2.1', 'at the strength of the account', 'met'],
      ['§4.2', 'account recovery', 'shared', 'switch on `recovery`, and send its notices'],
      ['§4.2.1.1', 'saved recovery codes', 'met'],
      ['§4.3', 'loss and theft', 'shared', 'your help desk verifies whom it talks to'],
      ['§4.6', 'notices', 'shared', 'send the notices that `onNotice` gets', ['R34', 'R63']],
      ['§5.1', 'session bindings', 'shared', YOUR_SESSION],
      ['§5.1.1', 'cookies', 'shared', 'set `cookie.secure` and `sameSite` of express-session'],
      ['§5.2', 'reauthentication of a session', 'shared', 'put `requireMfa` before your routes'],
    ],
  },
  {
    title: 'PCI DSS 4.0.1, 8.3 to 8.5',
    address: 'https://www.pcisecuritystandards.org/document_library/',
    source: 'PCI DSS',
    sections: { '8.3': 11, '8.4': 3, '8.5': 1 },
    rows: [
      ['8.3.1', 'at least one factor', 'shared', 'passwords are yours', ['R01']],
      [
        '8.3.2',
        'factors unreadable when stored and sent',
        'shared',
        'hash passwords, and use TLS',
        ['R40', 'R53', 'R59', 'R73'],
      ],
      [
        '8.3.3',
        'identity before a factor is changed',
        'shared',
        'your help desk verifies whom it talks to',
        ['R55', 'R92', 'R95'],
      ],
      [
        '8.3.4',
        'a lock after at most ten attempts, for 30 minutes',
        'met',
        'keep `lockDuration` at 30 minutes or more',
      ],
      ['8.3.5 to 8.3.7', 'passwords: first, form, history', 'host', 'passwords are yours'],
      ['8.3.8', 'guidance for users', 'host', 'tell users how to protect factors'],
      ['8.3.9 to 8.3.10', 'passwords as the only factor', 'host', 'let `policy` return `require`'],
      ['8.3.11', 'factors belong to one person', 'met', '', ['R70', 'R98']],
      ['8.4.1 to 8.4.3', 'where a second factor is required', 'host', 'let `policy` return `require`'],
      [
        '8.5.1',
        'no replay, no way around, two kinds of factors, all of them before access',
        'met',
        'list no `email` in `factors` if the mailbox opens with the same password',
        ['R01', 'R37', 'R51', 'R69', 'R116'],
      ],
    ],
  },
]

const ANSWERS: Readonly<Record<Answer, string>> = {
  met: 'met',
  shared: 'shared',
  host: 'your app',
  'not met': '**not met**',
  none: 'does not apply',
}

/** The points of a row: `6.2.1 to 6.2.3` are three. */
export function pointsOf([points]: Row): string[] {
  const [first = '', last] = points.split(' to ')
  if (last === undefined) return [first]
  const section = first.slice(0, first.lastIndexOf('.') + 1)
  const [from, to] = [first, last].map((point) => Number(point.slice(section.length))) as [number, number]
  return Array.from({ length: to - from + 1 }, (_, nth) => `${section}${from + nth}`)
}

/** The points of a standard that the source of a requirement cites: `ASVS 2.3.1, 6.3.3; NIST §5.1`. */
export function citedIn(source: string, standard: string): string[] {
  return source.split(';').flatMap((part) => {
    const [, list] = new RegExp(`(?:^|\\W)${standard}(?: SP 800-63B-4| 4\\.0\\.1)? (.*)$`).exec(part) ?? []
    return list?.match(/§?\d+(?:\.\d+)+/g) ?? []
  })
}

/** The requirements behind a row: those whose source cites one of its points, and those that the row adds. */
export function requirementsOf(
  row: Row,
  { source }: Standard,
  requirements: readonly Requirement[],
): string[] {
  const points = pointsOf(row)
  const cited = requirements.filter(
    (one) => !one.isPlanned && citedIn(one.source, source).some((point) => points.includes(point)),
  )
  const added = (row[4] ?? []).filter((one) => /^R\d/.test(one))
  return [...new Set([...cited.map(({ id }) => id), ...added])].sort(
    (one, other) => Number(one.slice(1)) - Number(other.slice(1)),
  )
}

/** The page for auditors, as Markdown. */
export function pageOf(requirements: readonly Requirement[]): string {
  const tables = STANDARDS.map((standard) => {
    const rows = standard.rows.map((row) => {
      const [points, subject, answer, note = '', also = []] = row
      const files = also
        .filter((one) => one.endsWith('.ts'))
        .map((path) => `[${path.split('/').at(-1)}](../../${path})`)
      const proof =
        answer === 'met' || answer === 'shared'
          ? [...requirementsOf(row, standard, requirements), ...files]
          : []
      return `| ${points} | ${subject} | ${ANSWERS[answer]} | ${proof.join(', ')} | ${note} |`
    })
    const heading = ['| point | about | answer | proven by | what you do, or why |', '|---|---|---|---|---|']
    return [`## ${standard.title}`, '', `[The standard](${standard.address})`, '', ...heading, ...rows].join(
      '\n',
    )
  })
  const opening = [
    '# Standards',
    '',
    'What Countersign meets of three standards, what it shares with your app, and what is not met. `npm run generate` writes this page.',
    'The fourth column names [requirements](requirements.md), whose tests are [listed](requirements-tests.md). The second is a short name: read',
    'each point in the standard itself. This page is no certificate.',
  ]
  return `${[opening.join('\n'), ...tables].join('\n\n')}\n`
}
