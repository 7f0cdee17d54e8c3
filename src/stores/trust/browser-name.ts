/** Browser and operating system, as shown in a list of devices. */
export interface BrowserName {
  /** For example `Firefox`. */
  readonly browser?: string
  /** For example `Windows`. */
  readonly system?: string
}

type UserAgentPattern = readonly [RegExp, string]

// Most user agents also name the browsers they derive from, so the most specific pattern comes first.
const BROWSERS: readonly UserAgentPattern[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPiOS|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bYaBrowser\//, 'Yandex Browser'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: readonly UserAgentPattern[] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(?:intosh| OS X)\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

/** Reads a `User-Agent` header. Returns only names from the lists above, never text from the header. */
export function browserName(userAgent: string | undefined): BrowserName {
  const find = (patterns: readonly UserAgentPattern[]) =>
    patterns.find(([pattern]) => pattern.test((userAgent ?? '').slice(0, 512)))?.[1]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  return { ...(browser && { browser }), ...(system && { system }) }
}
