/** A message as it would have reached a person. */
export interface TestMessage {
  /** A mailbox, a telephone number, or `<mailbox>:<number>` for one code to both. */
  readonly to: string
  readonly method: 'email' | 'sms' | 'whatsapp' | 'call' | 'dual'
  /** The code; of a message with backup codes, the first. */
  readonly code: string
  /** All codes in it. */
  readonly codes: readonly string[]
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Every message that the service of a test kit delivered. */
export interface TestInbox {
  /**
   * The newest message, or the newest to somebody.
   * @throws when there is none; the error says what there is.
   */
  newest(to?: string): TestMessage
  /** All messages, or all to somebody, newest first. */
  all(to?: string): readonly TestMessage[]
  /** Forgets them. */
  clear(): void
}

/** An empty inbox, and the way to put messages into it. */
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
        `There is no message${to ? ` to ${to}` : ''} in the inbox. ${others && `There are some to ${others}.`}`,
      )
    },
    clear: () => void messages.splice(0),
    put: (message) => void messages.unshift(message),
  }
}
