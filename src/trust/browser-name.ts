/** What a browser says it is, in two words for a list. */
export interface BrowserName {
  /** Like "Firefox". */
  readonly browser?: string
  /** Like "Windows". */
  readonly system?: string
}

type Mark = readonly [RegExp, string]

// Most browsers also name the ones they descend from, so the particular stand before the general.
const BROWSERS: readonly Mark[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\b(?:OPR|OPiOS|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\bVivaldi\//, 'Vivaldi'],
  [/\bYaBrowser\//, 'Yandex Browser'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]

const SYSTEMS: readonly Mark[] = [
  [/\bWindows\b/, 'Windows'],
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac(?:intosh| OS X)\b/, 'Mac'],
  [/\bLinux\b/, 'Linux'],
]

/** Reads a `User-Agent`. Only words of ours come out of it, never the text that was sent. */
export function browserName(userAgent: string | undefined): BrowserName {
  const find = (marks: readonly Mark[]) =>
    marks.find(([pattern]) => pattern.test((userAgent ?? '').slice(0, 512)))?.[1]
  const [browser, system] = [find(BROWSERS), find(SYSTEMS)]
  return { ...(browser && { browser }), ...(system && { system }) }
}
