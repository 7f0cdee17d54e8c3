/**
 * Keeps test tools out of production, however `NODE_ENV` is spelled (R100).
 * @throws with `NODE_ENV=production`; the error names the function that was called.
 */
export function refuseProduction(name: string): void {
  if (!/^\s*prod(uction)?\s*$/i.test(process.env.NODE_ENV ?? '')) return
  throw new Error(`${name} is for tests and does not run with NODE_ENV=production.`)
}
