/** An operator asked for what cannot be done. The message lists what is wrong, each with its remedy. */
export class OperatorError extends Error {
  readonly code = 'ERR_SERVICE_OPERATOR'
  /** One sentence a fault. */
  readonly faults: readonly string[]

  constructor(...faults: string[]) {
    super(faults.join('\n'))
    this.name = 'OperatorError'
    this.faults = faults
  }
}
