/** An operator requested something that is impossible. The message lists every fault with its remedy. */
export class OperatorError extends Error {
  /** Identifies the error for programs. */
  readonly code = 'ERR_SERVICE_OPERATOR'
  /** What is wrong, one sentence per fault. */
  readonly faults: readonly string[]

  constructor(...faults: string[]) {
    super(faults.join('\n'))
    this.name = 'OperatorError'
    this.faults = faults
  }
}
