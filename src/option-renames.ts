/** Every option of an earlier release that has another name now, by the path of its old name, with its new place. */
export const RENAMED_OPTIONS: Readonly<Record<string, string>> = {
  path: 'urls.path',
  pathPrefix: 'urls.pathPrefix',
  publicUrl: 'urls.publicUrl',
  docsUrl: 'urls.docsUrl',
  signInPath: 'login.signInPath',
  signOutPath: 'login.signOutPath',
  homePath: 'login.homePath',
  open: 'login.pendingPaths',
  halfLoginMs: 'login.pendingLifetime',
  firstFactor: 'login.firstFactor',
  codeLifeMs: 'limits.codeLifetime',
  'limits.redis': 'limits.store: { redis }',
  'limits.postgres': 'limits.store: { postgres: { pool, tableName? } }',
  'limits.prefix': 'prefix in limits.store',
  'limits.triesPerChallenge': 'limits.attemptsPerChallenge',
  'limits.lockMs': 'limits.lockDuration',
  'limits.resendWaitsSeconds': 'limits.resendWaits, a list of times like ["30s", "60s"]',
  onNotice: 'notices.onNotice',
  onCompromise: 'notices.onCompromise',
  noticeStore: 'notices.store',
  stylesheet: 'pages.stylesheet',
  help: 'pages.help',
  preferred: 'pages.preferred',
  render: 'pages.render',
  locale: 'languages.locale',
  texts: 'languages.texts',
  place: 'location',
  doctor: 'diagnostics',
  'service.timeoutMs': 'service.timeout',
  'service.transcribeTimeoutMs': 'service.transcribeTimeout',
  'service.breaker.pauseMs': 'service.breaker.pause',
}

/** The options that hold renamed ones, by their path. */
const GROUPS: ReadonlySet<string> = new Set(
  Object.keys(RENAMED_OPTIONS).flatMap((path) => (path.includes('.') ? groupsOf(path) : [])),
)

function groupsOf(path: string): string[] {
  const names = path.split('.')
  return names.slice(1).map((_name, nth) => names.slice(0, nth + 1).join('.'))
}

/** Options without the names of earlier releases, and a fault for each of those that was given. */
export interface CurrentOptions {
  readonly options: object
  readonly faults: readonly string[]
}

/** Separates the names of earlier releases from the options. `group`: what the given options are part of, like `service`. */
export function separateOldNames(given: object, group = ''): CurrentOptions {
  const above = group && `${group}.`
  const faults: string[] = []
  let isSame = true
  const entries = Object.entries(given).flatMap(([name, value]: [string, unknown]) => {
    const path = above + name
    const place = Object.hasOwn(RENAMED_OPTIONS, path) ? RENAMED_OPTIONS[path] : undefined
    if (place !== undefined) {
      isSame = false
      if (value !== undefined) faults.push(`${path} is now ${place}`)
      return []
    }
    if (!GROUPS.has(path) || !isPlain(value)) return [[name, value]]
    const below = separateOldNames(value, path)
    isSame &&= below.options === value
    faults.push(...below.faults)
    return [[name, below.options]]
  })
  // Without old names it stays the same object: `service` may be one that has functions.
  return { options: isSame ? given : Object.fromEntries(entries), faults }
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
