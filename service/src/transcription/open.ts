import type { Logger } from '../log/logger.js'
import type { ServiceSettings } from '../options.js'
import { transcriberOf } from './engines/engine-option.js'
import { type Transcription, transcriptionOf } from './transcription.js'

type Parts = Pick<ServiceSettings, 'transcriber' | 'transcriberKey' | 'transcribeHosts'>

/** Transcription as the options ask for it; warns when what they name is not installed. */
export function openTranscription(settings: Parts, log: Logger): Transcription {
  const transcriber = transcriberOf(settings.transcriber, settings.transcriberKey)
  const { by } = settings.transcriber
  if (!transcriber && by !== 'auto' && by !== 'off') {
    const detail = `SERVICE_TRANSCRIBER names ${by}, and ${by === 'pocketsphinx' ? 'it or ffmpeg' : 'ffmpeg'} is not installed.`
    log({ level: 'warn', event: 'transcription.unavailable', detail })
  }
  return transcriptionOf({ transcriber, fetching: { hosts: settings.transcribeHosts }, log })
}
