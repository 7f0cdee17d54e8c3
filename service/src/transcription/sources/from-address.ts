import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { MAX_RECORDING_BYTES } from 'countersign/protocol'
import { RequestFilteringHttpsAgent } from 'request-filtering-agent'
import { withinTime } from '../../time-limit.js'
import { globalLookup, isGlobalIPv6, NotGlobalError } from './public-address.js'
import { isListed, type ListedHost } from './allowed-hosts.js'
import { keepFile } from './save-recording.js'
import {
  addressRefused,
  fetchFailed,
  fileTooLarge,
  type Received,
  type Source,
  unsupportedMedia,
} from './recording-source.js'

const FETCH_MS = 30_000

/** How addresses are fetched from. */
export interface Fetching {
  /** Hosts to which http and private addresses are allowed. */
  readonly hosts: readonly ListedHost[]
  /** Resolves names. Defaults to the system's resolver. */
  readonly lookup?: LookupFunction
  /** Ports that hosts which are not listed may be asked at. Defaults to that of https. */
  readonly ports?: readonly number[]
  /** How long one file may take in all, in milliseconds. Defaults to 30,000. */
  readonly timeoutMs?: number
}

/**
 * A file that somebody names by its address (R87). Only https to public addresses is fetched, or what the operator
 * lists; the name is resolved once, every address it has is checked, and one of these is connected to. No redirect is
 * followed, no proxy used, and nothing of an answer is ever shown to the caller.
 */
export function fromAddress(address: string, fetching: Fetching): Source {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return {
    name: url ? `${url.protocol}//${url.host}${url.pathname}` : 'no address',
    async receive(path, signal) {
      const agent = url && agentFor(url, fetching)
      if (!url || !agent) return addressRefused
      try {
        const limitMs = fetching.timeoutMs ?? FETCH_MS
        return await withinTime(limitMs, [signal], (within) => fetchFile(url, agent, path, within))
      } catch (error) {
        if (signal.aborted) throw error
        return isForbidden(error) ? addressRefused : fetchFailed
      } finally {
        agent.destroy()
      }
    },
  }
}

/** The agent that may go to an address; `undefined` when none may. */
function agentFor(url: URL, { hosts, lookup, ports = [443] }: Fetching): HttpAgent | undefined {
  if (url.username || url.password) return undefined
  const options = { keepAlive: false, ...(lookup && { lookup }) }
  if (isListed(hosts, url)) {
    if (url.protocol === 'https:') return new HttpsAgent(options)
    return url.protocol === 'http:' ? new HttpAgent(options) : undefined
  }
  if (url.protocol !== 'https:' || !ports.includes(Number(url.port || 443))) return undefined
  if (url.hostname.startsWith('[') && !isGlobalIPv6(url.hostname.slice(1))) return undefined
  return new RequestFilteringHttpsAgent({ keepAlive: false, lookup: globalLookup(lookup) })
}

async function fetchFile(url: URL, agent: HttpAgent, path: string, signal: AbortSignal): Promise<Received> {
  const response = await head(url, agent, signal)
  try {
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400) return addressRefused
    if (statusCode !== 200) return fetchFailed
    // We asked for the file as it is; what was packed could be larger than it looks.
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') return fetchFailed
    if (!isMedia(headers['content-type'])) return unsupportedMedia
    if (Number(headers['content-length'] ?? 0) > MAX_RECORDING_BYTES) return fileTooLarge
    return await keepFile(response, path, signal)
  } finally {
    response.destroy()
  }
}

function head(url: URL, agent: HttpAgent, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    request(url, {
      agent,
      signal,
      headers: { accept: 'audio/*, video/*, application/octet-stream', 'accept-encoding': 'identity' },
    })
      .once('response', resolve)
      .on('error', reject)
      .end()
  })
}

function isMedia(contentType = ''): boolean {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  return type === '' || /^(audio|video)\//.test(type) || OTHER_TYPES.has(type)
}

const OTHER_TYPES = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/ogg',
  'application/mp4',
])

function isForbidden(error: unknown): boolean {
  if (error instanceof NotGlobalError) return true
  // The agent has no class of its own for the address that it does not allow.
  return error instanceof Error && error.message.includes('is not allowed. Because')
}
