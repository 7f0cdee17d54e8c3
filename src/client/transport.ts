/** A response that has not been validated. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  /** Whether the response has a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
  readonly challengesKey: boolean
  /** Whether the response has the header by which the Countersign service identifies itself. */
  readonly isCountersign: boolean
  /** The wait in `Retry-After`, in whole seconds. */
  readonly retryAfterSeconds: number | undefined
  readonly body: string
}

/** The bounds of one call. */
export interface CallLimits {
  /** Time limit for the whole call. Defaults to the option `timeoutMs`. */
  readonly timeoutMs?: number
  /** The maximum size of the response, in bytes. Defaults to 64 KB. */
  readonly maxBytes?: number | undefined
  /** Ends the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined
  /** Asks for server-sent events, and receives their text while it arrives. An error that it throws ends the call. */
  readonly onEvents?: ((text: string) => void) | undefined
}

/** A body that is sent while it is read. */
export interface Upload {
  readonly contentType: string
  readonly bytes: number
  read(): AsyncIterable<Uint8Array>
}

interface CallOptions extends CallLimits {
  readonly idempotencyKey?: string | undefined
}

/** The only access to the network. */
export interface Transport {
  /**
   * Sends a POST request, without retries or redirects (R74, R76). With `idempotencyKey` it is carried out once, even if a proxy
   * repeats it. @throws {ServiceError}, as all of these, if there is no complete response in time.
   */
  post(path: string, parameters: Readonly<Record<string, string>>, options?: CallOptions): Promise<Answer>
  /** Sends a POST request with a file. */
  upload(path: string, file: Upload, limits: CallLimits): Promise<Answer>
  /** Sends a GET request. `withKey: false` leaves the API key out. */
  get(
    path: string,
    timeoutMs: number,
    options?: { readonly withKey?: boolean; readonly maxBytes?: number | undefined },
  ): Promise<Answer>
  /** Sends a DELETE request. */
  delete(path: string): Promise<Answer>
  /** Resolves when a connection of another kind may be made. @throws {ServiceError} if it may not. */
  identify?(): Promise<void>
  close(): Promise<void>
}

/** The same transport, with each of its calls wrapped. */
export function wrapTransport(
  transport: Transport,
  wrap: (call: () => Promise<Answer>) => Promise<Answer>,
): Transport {
  return {
    post: (...call) => wrap(() => transport.post(...call)),
    upload: (...call) => wrap(() => transport.upload(...call)),
    get: (...call) => wrap(() => transport.get(...call)),
    delete: (...call) => wrap(() => transport.delete(...call)),
    close: () => transport.close(),
  }
}

/** The same transport, with a look at every response. */
export function observedTransport(transport: Transport, onAnswer: (answer: Answer) => void): Transport {
  return wrapTransport(transport, async (call) => {
    const answer = await call()
    onAnswer(answer)
    return answer
  })
}
