import { createReadStream, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { basename } from 'node:path'
import { type AddressRules, isForbiddenAddress, publicAgent } from '../../safe-fetch/public-agent.js'
import { limitTime } from '../../time.js'
import type { RecordingLimits } from '../recording-limits.js'
import {
  fetchFailed,
  type Received,
  type RecordingSource,
  refuseRecording,
  saveRecording,
} from './recording-source.js'

/** How often a host may name another address. */
const MAX_REDIRECTS = 3
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]
const addressRefused = refuseRecording('address_refused')

/**
 * A file that a caller names by its address (R87). It is fetched only by https from a public address, or from a host
 * that the operator allows. The host name is resolved once, all its addresses are checked, and the connection goes to
 * one of them. Up to three redirects are followed, each with the same checks. No proxy is used, and the caller never sees
 * any part of a response.
 */
export function createAddressSource(address: string, rules: AddressRules): RecordingSource {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return {
    name: url ? `${url.protocol}//${url.host}${url.pathname}` : 'invalid address',
    async receive(path, signal, limits) {
      if (!url) return addressRefused
      try {
        return await limitTime(limits.arrivalMs, [signal], async (within) => {
          let next: Received | URL = url
          for (let redirects = 0; next instanceof URL; redirects++) {
            if (redirects > MAX_REDIRECTS) return addressRefused
            next = await fetchFrom(next, rules, { path, signal: within, limits })
          }
          return next
        })
      } catch (error) {
        if (signal.aborted) throw error
        return isForbiddenAddress(error)
          ? addressRefused
          : fetchFailed('The host did not send the whole file in time, or closed the connection.')
      }
    },
  }
}

/** The file at an address, or the address to which its host redirects. */
async function fetchFrom(
  url: URL,
  rules: AddressRules,
  to: { readonly path: string; readonly signal: AbortSignal; readonly limits: RecordingLimits },
): Promise<Received | URL> {
  const { path, signal, limits } = to
  const agent = publicAgent(url, rules)
  if (!agent) return addressRefused
  try {
    const response = await openResponse(url, agent, signal)
    try {
      const { statusCode = 0, headers } = response
      if (REDIRECTS.includes(statusCode)) return redirectIn(headers.location, url)
      if (statusCode !== 200) return fetchFailed(`The host answered with ${statusCode} instead of 200.`)
      // The request asked for no encoding; a compressed file could be larger than it seems.
      const encoding = headers['content-encoding'] ?? 'identity'
      if (encoding !== 'identity')
        return fetchFailed(
          `The host sent the file with ${ENCODINGS.has(encoding) ? `the encoding ${encoding}` : 'an encoding'}.`,
        )
      if (!isMedia(headers['content-type'])) return refuseRecording('unsupported_media')
      if (Number(headers['content-length'] ?? 0) > limits.maxBytes) return refuseRecording('file_too_large')
      return await saveRecording(response, path, signal, limits)
    } finally {
      response.destroy()
    }
  } finally {
    agent.destroy()
  }
}

function redirectIn(location: string | undefined, from: URL): URL | Received {
  return location !== undefined && URL.canParse(location, from.href)
    ? new URL(location, from.href)
    : addressRefused
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

const ENCODINGS = new Set(['gzip', 'br', 'zstd', 'deflate', 'compress'])

const OTHER_TYPES = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/ogg',
  'application/mp4',
])

/** A file on this machine, named by code in this process and never by an HTTP request. */
export function createPathSource(path: string): RecordingSource {
  return {
    name: basename(path),
    receive: (savedPath, signal, limits) => saveRecording(createReadStream(path), savedPath, signal, limits),
  }
}

/** The facts known of a file on this machine. Throws Node's own error if there is none, and another one if it is not a file. */
export async function fileStats(path: string): Promise<Stats> {
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error('The recording must be a file.')
  return stats
}
