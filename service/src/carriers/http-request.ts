import { DeliveryError } from '../delivery/message.js'

const LONGEST_ANSWER_BYTES = 16_384

/** What came back, unjudged. */
export interface Answer {
  readonly status: number
  /** The first 16 KB. */
  readonly body: string
}

/** Asks once over HTTP; a redirect is not followed. Throws a `DeliveryError` when no answer comes. */
export async function ask(
  who: string,
  url: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly headers: Record<string, string>
    readonly body?: string
  },
  signal: AbortSignal,
): Promise<Answer> {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    return { status: response.status, body: await beginningOf(response) }
  } catch (error) {
    throw new DeliveryError(`${who} gave no answer (${reasonOf(error, signal)}).`, 'outage')
  }
}

/** Whether the same request may be taken later. */
export function mayPass(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status)
}

async function beginningOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= LONGEST_ANSWER_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, LONGEST_ANSWER_BYTES).toString('utf8')
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'time is up'
  const { code } = ((error as { cause?: unknown } | null)?.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : 'the connection broke'
}
