import { createReadStream } from 'node:fs'
import { EngineError, LanguageError } from '@countersign/service'

/**
 * Transcribes on a server with Deepgram's API.
 * @returns {import('@countersign/service').Transcriber}
 */
export function deepgram({ url, apiKey }) {
  return {
    name: 'deepgram',
    givesTimes: true,
    async transcribe({ path, language, withTimes, signal }) {
      const address = new URL(url)
      address.searchParams.set('model', 'nova-3')
      address.searchParams.set(language ? 'language' : 'detect_language', language ?? 'true')
      if (withTimes) address.searchParams.set('utterances', 'true')
      const { results } = await post(address, { path, apiKey, signal })
      const [{ detected_language, alternatives }] = results.channels
      return {
        text: alternatives[0].transcript,
        ...(detected_language && { language: detected_language }),
        ...(results.utterances && { segments: results.utterances.map(segmentOf) }),
      }
    },
  }
}

async function post(address, { path, apiKey, signal }) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { authorization: `Token ${apiKey}`, 'content-type': 'audio/wav' },
    // Hours of sound must not be in memory.
    body: createReadStream(path),
    duplex: 'half',
    redirect: 'error',
    signal,
  }).catch((cause) => {
    if (signal.aborted) throw signal.reason
    throw new EngineError('engine_unavailable', 'Deepgram could not be reached.', { cause })
  })
  const { status } = response
  if (response.ok) return response.json()
  const detail = await response.text()
  if (status === 400 && detail.includes('No such model/language/tier')) throw new LanguageError()
  const isPassing = status >= 500 || status === 429
  throw new EngineError(
    isPassing ? 'engine_unavailable' : 'engine_failed',
    `Deepgram responded with ${status}.`,
  )
}

function segmentOf({ transcript, start, end, confidence }) {
  return { text: transcript, startSeconds: start, endSeconds: end, confidence }
}
