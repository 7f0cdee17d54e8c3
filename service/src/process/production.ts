/** Whether the process runs in production: `NODE_ENV` is `production`. */
export function isProduction(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  return env.NODE_ENV === 'production'
}

/** The fault in `NODE_ENV`: a misspelled production, which Express and our checks would take for development. */
export function productionFaults(env: Readonly<Record<string, string | undefined>> = process.env): string[] {
  const mode = env.NODE_ENV ?? ''
  if (isProduction(env) || !/^\s*prod(uction)?\s*$/i.test(mode)) return []
  return [`NODE_ENV must be production in lower case (got ${JSON.stringify(mode)}).`]
}
