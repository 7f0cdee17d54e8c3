/**
 * Keeps test tools out of production.
 * @throws with `NODE_ENV=production`; the error names the function that was called.
 */
export function refuseProduction(name: string): void {
  if (process.env.NODE_ENV !== 'production') return
  throw new Error(`${name} is for tests and does not run with NODE_ENV=production.`)
}
