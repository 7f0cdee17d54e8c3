/**
 * The service, or a command, cannot run with its configuration: an option is wrong, the store cannot be opened, a
 * port is in use. The message lists every fault with its remedy and contains no secret.
 */
export class ConfigurationError extends Error {
  /** Identifies the error for programs. */
  readonly code = 'ERR_SERVICE_OPTIONS'
  /** What is wrong, one sentence per fault. */
  readonly faults: readonly string[]

  constructor(faults: readonly string[], options?: ErrorOptions) {
    super(`The MFA service cannot start:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`, options)
    this.name = 'ConfigurationError'
    this.faults = faults
  }
}
