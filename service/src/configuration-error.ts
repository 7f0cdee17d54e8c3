/**
 * The service cannot start as it was set up. Thrown by `createService`; the message lists every fault, each with
 * its remedy, and holds no secret.
 */
export class FaultsError extends Error {
  readonly code = 'ERR_SERVICE_OPTIONS'
  /** One sentence a fault. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The MFA service cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`, options)
    this.name = 'FaultsError'
    this.faults = faults
  }
}
