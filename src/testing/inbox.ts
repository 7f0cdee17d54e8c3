/** A message as the user would receive it. */
export interface TestMessage {
  /** An email address, a phone number, or `<email>:<phone>` for one code sent to both. */
  readonly to: string
  /** The method that delivered the message. */
  readonly method: 'email' | 'sms' | 'whatsapp' | 'call' | 'dual'
  /** The code; the first one in a message with backup codes. */
  readonly code: string
  /** All codes in the message. */
  readonly codes: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The messages that the service of a test kit has delivered. */
export interface TestInbox {
  /**
   * Returns the newest message, or the newest one to `to`.
   * @throws if there is none; the error lists the recipients that have messages.
   */
  newest(to?: string): TestMessage
  /** Returns all messages, or all messages to `to`, newest first. */
  all(to?: string): readonly TestMessage[]
  /** Removes all messages. */
  clear(): void
}

/** An empty inbox, with `put` to add a message. */
export function testInbox(): TestInbox & { put(message: TestMessage): void } {
  const messages: TestMessage[] = []
  const all = (to?: string) => messages.filter((message) => to === undefined || message.to === to)
  return {
    all,
    newest(to) {
      const [newest] = all(to)
      if (newest) return newest
      const others = [...new Set(messages.map((message) => message.to))].join(', ')
      throw new Error(
        `The inbox has no message${to ? ` to ${to}` : ''}.${others && ` It has messages to ${others}.`}`,
      )
    },
    clear: () => void messages.splice(0),
    put: (message) => void messages.unshift(message),
  }
}
