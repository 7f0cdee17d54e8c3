import { TRANSLATIONS } from '../../src/pages/text.js'
import type { FactorView, KeyView, PageFrame, PageMessage, View } from '../../src/pages/view.js'
import { type CodeMethod, isKeyMethod, KEY_METHODS, METHODS } from '../../src/protocol/methods.js'

/** The moment at which every sample page is drawn. */
export const NOW = Date.UTC(2030, 0, 1, 12)

export const FACTORS: readonly FactorView[] = METHODS.map((method) => ({
  id: `${method}-1`,
  method,
  to: method === 'app' || method === 'email' || isKeyMethod(method) ? 'a…e@example.com' : '••• 57',
}))

export const frame: PageFrame = {
  locales: ['en'],
  appName: 'Vault',
  base: '/mfa',
  signInPath: '/login',
  homePath: '/account',
  purpose: 'sign-in',
  pendingLoginEndsAt: NOW + 9 * 60_000,
  now: NOW,
}

/** The same with a switch of languages. */
export const manyTongued: PageFrame = {
  ...frame,
  languages: { offer: ['en', ...TRANSLATIONS], back: '/mfa?choose' },
}

/** One factor of this method. */
export function factorOf<Of extends FactorView['method']>(method: Of): FactorView & { readonly method: Of } {
  return { id: `${method}-1`, method, to: '••• 57' }
}

const isCodeMethod = (method: FactorView['method']): method is CodeMethod => !isKeyMethod(method)

/** A key that was used, and one that was not. */
const KEYS: readonly KeyView[] = [
  {
    id: 'a2V5LTE',
    method: 'passkey',
    name: 'Phone of Ana & Co',
    synced: true,
    createdAt: NOW - 5 * 86_400_000,
    lastUsedAt: NOW - 86_400_000,
  },
  { id: 'a2V5LTI', method: 'security-key', name: 'Blue key', synced: false, createdAt: NOW },
]

/** The page of a key factor. */
export function keyPageOf(
  method: (typeof KEY_METHODS)[number],
  more: Partial<Extract<View, { page: 'key' }>> = {},
): Extract<View, { page: 'key' }> {
  return { page: 'key', factor: factorOf(method), exhausted: false, others: [], backup: true, ...more }
}

/** The code page of a factor that a code was just sent to. */
export function codeView(
  factor: FactorView<CodeMethod>,
  more: Partial<Extract<View, { page: 'code' }>> = {},
): View {
  const challenge = { factor, delivery: 'sent', expiresAt: NOW + 600_000, resendAt: NOW + 30_000 } as const
  return { page: 'code', factor, challenge, exhausted: false, others: [], backup: true, ...more }
}

export function problem(
  code: Extract<PageMessage, { tone: 'error' }>['code'],
  retryAfterSeconds?: number,
): Extract<PageMessage, { tone: 'error' }> {
  return { tone: 'error', code, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) }
}

/** One page in each state that changes what it says. */
export const VIEWS = {
  resume: {
    page: 'resume',
    action: '/transfer',
    fields: { amount: '20', to: 'Ana & Co', pin: '12' },
    entries: [{ label: 'Amount', value: '20' }, { label: 'Recipient', value: 'Ana & Co' }, { label: 'Pin' }],
  },
  choose: { page: 'choose', factors: FACTORS, preferred: 'sms-1', backup: true },
  'choose from nothing': { page: 'choose', factors: [], backup: false },
  'one factor': { page: 'choose', factors: [factorOf('sms')], backup: false, mayHaveBackup: true },
  'one backup code': { page: 'choose', factors: [], backup: true },
  'choose for a recovery': { page: 'choose', factors: FACTORS.slice(1, 3), backup: true, recovers: true },
  'code queued': codeView(factorOf('email'), {
    challenge: { factor: factorOf('email'), delivery: 'queued', follow: true, expiresAt: NOW + 60_000 },
  }),
  'code refused by the carrier': codeView(factorOf('sms'), {
    challenge: { factor: factorOf('sms'), delivery: 'refused', expiresAt: NOW + 60_000 },
    others: FACTORS,
  }),
  'code expired': codeView(factorOf('sms'), {
    challenge: { factor: factorOf('sms'), delivery: 'sent', expiresAt: NOW, resendAt: NOW },
  }),
  'code never sent': {
    page: 'code',
    factor: factorOf('sms'),
    exhausted: false,
    others: FACTORS,
    backup: true,
  },
  'code exhausted': codeView(factorOf('sms'), { exhausted: true }),
  'app code exhausted': codeView(factorOf('app'), { exhausted: true }),
  'key exhausted': keyPageOf('passkey', { exhausted: true, others: FACTORS }),
  'key with a box to tick': keyPageOf('security-key', { trust: { forMs: 30 * 86_400_000, ticked: true } }),
  'backup code': { page: 'code', factor: 'backup', exhausted: false, others: FACTORS, backup: true },
  'enroll start': { page: 'enroll-start', replaces: true },
  'enroll required': { page: 'enroll-start', replaces: false, keys: true, strongerRequired: true },
  'enroll anything': {
    page: 'enroll-start',
    replaces: false,
    keys: true,
    addUrl: '/account/phone',
    revokesDevices: true,
  },
  enroll: {
    page: 'enroll',
    qr: 'data:image/png;base64,AAAA',
    uri: 'otpauth://totp/x?secret=ABCD',
    secret: 'ABCDEFGH',
  },
  'enroll without picture': { page: 'enroll', secret: 'ABCDEFGH' },
  enrolled: { page: 'enrolled', backup: true },
  'enrolled without backup': { page: 'enrolled', backup: false },
  backup: { page: 'backup', to: 'a…e@example.com' },
  'backup to nowhere': { page: 'backup' },
  'backup on a page': { page: 'backup', to: 'a…e@example.com', shows: true },
  'backup codes': {
    page: 'backup-codes',
    codes: Array.from({ length: 10 }, (_, i) => `4T7K-9XQM-2HVD-W3R${i}`),
  },
  'backup codes shown before': { page: 'backup-codes-gone', next: '/account' },
  'backup sent': { page: 'backup-sent', to: 'a…e@example.com', count: 10 },
  'one backup code sent': { page: 'backup-sent', to: 'a…e@example.com', count: 1 },
  'few backup codes left': { page: 'backup-codes-left', left: 2, next: '/account?tab=1' },
  'no backup code left': { page: 'backup-codes-left', left: 0, next: '/account' },
  overview: { page: 'overview', factors: FACTORS, backup: true, devices: true },
  'overview with backup codes': { page: 'overview', factors: FACTORS, backup: true, backupCodesLeft: 7 },
  'overview with pages of the host': {
    page: 'overview',
    factors: FACTORS.map((factor) => ({ ...factor, manageUrl: '/account/phone' })),
    backup: true,
    backupCodesLeft: 0,
    addUrl: '/account/phone',
  },
  'overview with factors to remove': {
    page: 'overview',
    factors: FACTORS.map((factor) => ({ ...factor, canRemove: factor.method === 'app' })),
    backup: true,
    backupCodesLeft: 7,
    backupCodesUsedAt: NOW - 5 * 86_400_000,
    canRemoveBackup: true,
  },
  'overview with keys': {
    page: 'overview',
    factors: FACTORS,
    backup: true,
    keys: true,
    listedKeys: [
      ...KEYS,
      { id: 'a2V5LTM', method: 'passkey', name: 'Passkey', synced: true, createdAt: NOW },
    ],
  },
  'remove app': { page: 'remove', factor: 'app', others: FACTORS.slice(1), revokesDevices: true },
  'remove the only factor': { page: 'remove', factor: 'app', others: [], revokesDevices: false },
  'remove backup codes': { page: 'remove', factor: 'backup', others: FACTORS, revokesDevices: false },
  'overview of nothing': { page: 'overview', factors: [], backup: false },
  'code with a box to tick': codeView(factorOf('sms'), { trust: { forMs: 30 * 86_400_000, ticked: true } }),
  keys: {
    page: 'keys',
    keys: KEYS,
    methods: KEY_METHODS,
    relyingPartyId: 'vault.example',
    userHandle: 'dXNlcg',
    userName: 'ana@example.com',
  },
  'no keys': {
    page: 'keys',
    keys: [],
    methods: KEY_METHODS,
    relyingPartyId: 'vault.example',
    userName: 'ana@example.com',
  },
  'first key at sign-in': {
    page: 'keys',
    keys: KEYS.slice(0, 1),
    methods: KEY_METHODS,
    relyingPartyId: 'vault.example',
    userHandle: 'dXNlcg',
    userName: 'ana@example.com',
    next: '/account',
    revokesDevices: true,
  },
  'remove a key': {
    page: 'key-remove',
    key: { id: 'a2V5LTI', method: 'security-key', name: 'Blue key', synced: false, createdAt: NOW },
    others: FACTORS.slice(1),
    revokesDevices: true,
  },
  'remove the only key': {
    page: 'key-remove',
    key: { id: 'a2V5LTE', method: 'passkey', name: 'Phone', synced: true, createdAt: NOW },
    others: [],
    revokesDevices: false,
  },
  'offer of a passkey': { page: 'key-offer', next: '/account', mayCreate: true },
  devices: {
    page: 'devices',
    devices: [
      {
        id: 'one',
        browser: 'Firefox',
        system: 'Windows',
        location: 'Lyon, France',
        lastUsedAt: NOW - 60_000,
        expiresAt: NOW + 30 * 86_400_000,
        current: true,
      },
      {
        id: 'two',
        browser: 'Samsung Internet',
        system: 'Android',
        lastUsedAt: NOW - 5 * 86_400_000,
        expiresAt: NOW + 7_200_000,
        current: false,
      },
      { id: 'three', lastUsedAt: NOW - 86_400_000, expiresAt: NOW + 86_400_000, current: false },
    ],
  },
  'not me': { page: 'not-me', token: 'token' },
  secured: { page: 'secured' },
  'bypass code': { page: 'bypass' },
  'recovery to request': {
    page: 'recover',
    waitMs: 86_400_000,
    contacts: ['a•••@e•••', '••• 02'],
    isPossible: true,
  },
  'recovery that is not possible': { page: 'recover', waitMs: 86_400_000, contacts: [], isPossible: false },
  'recovery that waits': {
    page: 'recovery',
    readyAt: NOW + 80_000_000,
    ready: false,
    contacts: ['a•••@e•••', '••• 02'],
  },
  'recovery that is ready': { page: 'recovery', readyAt: NOW, ready: true, contacts: ['a•••@e•••'] },
  'cancel a recovery': { page: 'cancel-recovery', token: 'token' },
  'recovery canceled': { page: 'recovery-canceled' },
  'link is used': { page: 'stop', message: problem('unknown_link'), next: 'sign-in' },
  'no devices': { page: 'devices', devices: [] },
  locked: { page: 'stop', message: problem('locked', 7000), next: 'retry' },
  'locked without end': { page: 'stop', message: problem('locked'), next: 'home' },
  'signed in': { page: 'stop', message: { tone: 'success', code: 'signed_in' }, next: 'home' },
  'page is lost': {
    page: 'stop',
    message: { tone: 'success', code: 'signed_in' },
    next: 'home',
    isPageLost: true,
  },
  acting: { page: 'stop', message: problem('acting'), next: 'own-account' },
  'not available': {
    page: 'stop',
    message: problem('service_unavailable', 30),
    next: 'retry',
    unasked: true,
  },
  'from another site': { page: 'stop', message: problem('cross_site') },
  'pending login expired': { page: 'stop', message: problem('pending_login_expired'), next: 'sign-in' },
} satisfies Readonly<Record<string, View>>

/** All of them, and the page of every method. */
export const ALL_VIEWS: readonly (readonly [string, View])[] = [
  ...Object.entries(VIEWS),
  ...METHODS.filter(isCodeMethod).map(
    (method) => [`code by ${method}`, codeView(factorOf(method), { others: FACTORS })] as const,
  ),
  ...KEY_METHODS.map((method) => [`key by ${method}`, keyPageOf(method, { others: FACTORS })] as const),
]

/** The pages that are also shown to users who are not signed in. */
const PUBLIC: readonly View['page'][] = ['stop', 'not-me', 'secured', 'cancel-recovery', 'recovery-canceled']

/** The frames in which a page is shown: at sign-in, in a step-up, among the factors of a user, and in some cases without a sign-in. */
export function framesOf({ page }: View): readonly PageFrame[] {
  const { pendingLoginEndsAt: _ends, ...signedOut } = frame
  return [
    frame,
    { ...signedOut, purpose: 'step-up' },
    { ...signedOut, purpose: 'manage' },
    ...(PUBLIC.includes(page) ? [signedOut] : []),
  ]
}

/** The action that a user is asked to approve, with a value that has no place to break. */
const APPROVAL: Partial<PageFrame> = {
  purpose: 'step-up',
  approval: {
    id: 'a-1',
    lines: [
      { label: 'Amount', value: '€ 250.00' },
      { label: 'To', value: 'DE89370400440532013000'.repeat(9) },
      { label: 'Reference', value: '“Invoice 7”' },
    ],
  },
}

/** Pages that look different in other frames. */
export const OTHER_STATES: readonly (readonly [string, View, Partial<PageFrame>])[] = [
  ['choosing in a step-up', VIEWS.choose, { purpose: 'step-up' }],
  ['a code in a step-up', codeView(factorOf('sms'), { others: FACTORS }), { purpose: 'step-up' }],
  ['managing', VIEWS.overview, { purpose: 'manage', message: { tone: 'success', code: 'device_revoked' } }],
  ['a code sent again', codeView(factorOf('sms')), { message: { tone: 'success', code: 'code_sent_again' } }],
  [
    'a first factor that a page requires',
    VIEWS['enroll start'],
    { purpose: 'manage', message: { tone: 'note', code: 'enrollment_required' } },
  ],
  ['help of the host', codeView(factorOf('call')), { help: 'Call 0800.' }],
  [
    'a slow clock',
    codeView(factorOf('app')),
    { message: { tone: 'error', code: 'invalid_code', attemptsLeft: 1, clockSteps: -8 } },
  ],
  ['an outage', { page: 'stop', message: problem('service_unavailable', 30), next: 'retry' }, {}],
  ['choosing for an approval', VIEWS.choose, APPROVAL],
  ['a code for an approval', codeView(factorOf('sms'), { others: FACTORS }), APPROVAL],
  ['a key for an approval', keyPageOf('passkey', { others: FACTORS }), APPROVAL],
  ['an approved form', { ...VIEWS.resume, entries: [], approved: APPROVAL.approval?.lines ?? [] }, {}],
  ['a used code', codeView(factorOf('app'), { isUsed: true }), APPROVAL],
]
