/** A value in the answer to a login that may open routes as a bearer token. */
export interface AnswerToken {
  /** The name of its field, in words for a report. */
  readonly field: string
  readonly value: string
}

/** The characters of a bearer token (RFC 6750 §2.1), and is long enough for one. */
const TOKEN = /^[\w.~+/-]{16,4096}=*$/

/** The values in a JSON text that look like a token. */
export function findTokens(text: string): AnswerToken[] {
  const found: AnswerToken[] = []
  try {
    JSON.parse(text, (field: string, value: unknown) => {
      if (typeof value === 'string' && TOKEN.test(value)) found.push({ field: `"${field}"`, value })
      return value
    })
  } catch {
    // A page has no fields.
  }
  return found
}

/** Whether a JSON text begins a login of a client without cookies, or asks such a client for a factor. */
export function isPendingLogin(text: string): boolean {
  return findReference(text) !== undefined
}

function findReference(text: string): string | undefined {
  return /"login":"([\w-]{43})"/.exec(text)?.[1]
}

/** The credentials that a client without cookies keeps of answers and sends with later requests: the reference of its login, and then the access token. */
export function createTokenStore() {
  let reference: string | undefined
  let access: string | undefined
  return {
    isPending: () => reference !== undefined,
    headers: (): Readonly<Record<string, string>> => ({
      ...(reference !== undefined && { 'MFA-Login': reference }),
      ...(access !== undefined && { Authorization: `Bearer ${access}` }),
    }),
    async keep(answer: Response): Promise<void> {
      if (!/json/.test(answer.headers.get('Content-Type') ?? '')) return
      const text = await answer
        .clone()
        .text()
        .catch(() => '')
      const next = findReference(text)
      if (next !== undefined) {
        reference = next
        if (text.includes('"mfa_required"')) access = undefined
      } else if (reference !== undefined && answer.ok) {
        const isAccess = ({ field }: AnswerToken) =>
          /access|token/i.test(field) && !/refresh|csrf/i.test(field)
        const issued = findTokens(text).find(isAccess)
        if (issued) [reference, access] = [undefined, issued.value]
      }
    },
  }
}

/** The credentials that a client without cookies keeps. */
export type KeptTokens = ReturnType<typeof createTokenStore>
