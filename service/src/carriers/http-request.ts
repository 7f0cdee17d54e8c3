import { DeliveryError } from '../delivery/carrier.js'

const MAX_BODY_BYTES = 16_384

/** A response, whatever its status. */
export interface HttpResponse {
  readonly status: number
  /** The first 16 KB. */
  readonly body: string
}

/**
 * Sends one HTTP request, without following redirects. Throws a `DeliveryError` that mentions the `server` when there
 * is no response.
 */
export async function httpRequest(
  server: string,
  url: string,
  request: {
    readonly method: 'GET' | 'POST'
    readonly headers: Record<string, string>
    readonly body?: string
  },
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal })
    return { status: response.status, body: await readBeginning(response) }
  } catch (error) {
    throw new DeliveryError(`${server} did not respond (${reasonOf(error, signal)}).`, 'outage')
  }
}

/** Whether the same request may succeed later. */
export function isTemporary(status: number): boolean {
  return status >= 500 || [408, 425, 429].includes(status)
}

async function readBeginning(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= MAX_BODY_BYTES) break
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8')
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'timeout'
  const { code } = ((error as { cause?: unknown } | null)?.cause ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : 'connection lost'
}
