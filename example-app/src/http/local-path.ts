const PLACEHOLDER_ORIGIN = 'http://vault.invalid'

/**
 * The target if it is a path on this site, else the fallback. The target is parsed as a browser parses it, because a
 * comparison of strings would accept `/\evil.example`, `/.//evil.example` and tabs.
 */
export function localPath(target: unknown, fallback = '/'): string {
  if (typeof target !== 'string' || !target.startsWith('/')) return fallback
  if (!URL.canParse(target, PLACEHOLDER_ORIGIN)) return fallback
  const url = new URL(target, PLACEHOLDER_ORIGIN)
  const path = url.pathname + url.search + url.hash
  return url.origin === PLACEHOLDER_ORIGIN && !path.startsWith('//') ? path : fallback
}
