/** A request that the console refuses. Its message is shown on a page. */
export class ConsoleError extends Error {
  /** The HTTP status. */
  readonly status: 403 | 404 | 405 | 429

  constructor(status: ConsoleError['status'], message: string) {
    super(message)
    this.name = 'ConsoleError'
    this.status = status
  }
}
