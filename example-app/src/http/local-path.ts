const HERE = 'http://here.invalid'

/**
 * The target if it is a path on this site, else the fallback. Parsed as a browser parses it, since string
 * comparison is fooled by `/\evil.example`, `/.//evil.example` and tabs.
 */
export function localPath(target: unknown, fallback = '/'): string {
  if (typeof target !== 'string' || !target.startsWith('/') || !URL.canParse(target, HERE)) return fallback
  const url = new URL(target, HERE)
  const path = url.pathname + url.search + url.hash
  return url.origin === HERE && !path.startsWith('//') ? path : fallback
}
