import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { basename } from 'node:path'
import { transcriptionWire } from 'countersign/protocol'
import { type AddressRules, isForbiddenAddress, publicAgent } from '../../safe-fetch/public-agent.js'
import { withTimeLimit } from '../../time.js'
import {
  addressRefused,
  fetchFailed,
  fileTooLarge,
  type Received,
  type RecordingSource,
  saveRecording,
  unsupportedMedia,
} from './recording-source.js'

const DEFAULT_TIMEOUT_MS = 30_000

/** How recordings are fetched, and from where. */
export interface FetchOptions extends AddressRules {
  /** The time limit for one file, in milliseconds. Defaults to 30,000. */
  readonly timeoutMs?: number
}

/**
 * A file that a caller names by its address (R87). It is fetched only by https from a public address, or from a host
 * that the operator allows. The host name is resolved once, all its addresses are checked, and the connection goes to
 * one of them. Redirects are not followed, no proxy is used, and the caller never sees any part of the response.
 */
export function fromAddress(address: string, options: FetchOptions): RecordingSource {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return {
    name: url ? `${url.protocol}//${url.host}${url.pathname}` : 'invalid address',
    async receive(path, signal) {
      const agent = url && publicAgent(url, options)
      if (!url || !agent) return addressRefused
      try {
        const limitMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
        return await withTimeLimit(limitMs, [signal], (within) => fetchFile(url, agent, path, within))
      } catch (error) {
        if (signal.aborted) throw error
        return isForbiddenAddress(error) ? addressRefused : fetchFailed
      } finally {
        agent.destroy()
      }
    },
  }
}

async function fetchFile(url: URL, agent: HttpAgent, path: string, signal: AbortSignal): Promise<Received> {
  const response = await openResponse(url, agent, signal)
  try {
    const { statusCode = 0, headers } = response
    if (statusCode >= 300 && statusCode < 400) return addressRefused
    if (statusCode !== 200) return fetchFailed
    // The request asked for no encoding; a compressed file could be larger than it seems.
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') return fetchFailed
    if (!isMedia(headers['content-type'])) return unsupportedMedia
    if (Number(headers['content-length'] ?? 0) > transcriptionWire.MAX_RECORDING_BYTES) return fileTooLarge
    return await saveRecording(response, path, signal)
  } finally {
    response.destroy()
  }
}

function openResponse(url: URL, agent: HttpAgent, signal: AbortSignal): Promise<IncomingMessage> {
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

/** A file on this machine, named by code in this process and never by an HTTP request. */
export function fromPath(path: string): RecordingSource {
  return {
    name: basename(path),
    receive: (savedPath, signal) => saveRecording(createReadStream(path), savedPath, signal),
  }
}

/** What is known of a file on this machine. Throws Node's own error if there is none, and another one if it is not a file. */
export async function fileStats(path: string): Promise<Stats> {
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error('The recording must be a file.')
  return stats
}
