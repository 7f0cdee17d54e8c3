import { commandTranscriber } from './command.js'
import { type OpenAiSettings, openAiTranscriber } from './openai.js'
import { hasPocketsphinx, pocketsphinx } from './pocketsphinx.js'
import { isInstalled } from '../child-process.js'
import type { Transcriber } from './transcriber.js'

/** What transcribes, as the option `transcriber` names it. */
export type Engine =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'command'; readonly words: readonly [string, ...string[]] }
  | { readonly by: 'server'; readonly url: string; readonly fields: Readonly<Record<string, string>> }

const PATH = '/v1/audio/transcriptions'

/** Reads `auto`, `off`, `pocketsphinx`, `command:…` or an address; a text is a fault. */
export function readEngine(text: string): Engine | string {
  if (text === 'auto' || text === 'off' || text === 'pocketsphinx') return { by: text }
  if (text.startsWith('command:')) return readCommand(text.slice('command:'.length))
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return 'transcriber must be auto, off, pocketsphinx, command:… or the address of a transcription server'
  }
  const url = new URL(text)
  if (url.username || url.password) {
    return 'transcriber must not hold a user name or password: give the key in transcriberKey (SERVICE_TRANSCRIBER_KEY)'
  }
  const fields = { model: 'whisper-1', ...Object.fromEntries(url.searchParams) }
  return { by: 'server', url: `${url.origin}${url.pathname === '/' ? PATH : url.pathname}`, fields }
}

function readCommand(text: string): Engine | string {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const [program, ...parameters] = words
  if (!program) return 'transcriber command: must name a program, like command:whisper-cli -nt -f {file}'
  if (!parameters.some((parameter) => parameter.includes('{file}'))) {
    return 'transcriber command: must have {file} where the recording belongs, like command:whisper-cli -nt -f {file}'
  }
  return { by: 'command', words: [program, ...parameters] }
}

/** The engine that was chosen; `undefined` when there is none, or nothing to decode recordings with. */
export function transcriberOf(engine: Engine, apiKey: OpenAiSettings['apiKey']): Transcriber | undefined {
  if (!isInstalled('ffmpeg')) return undefined
  switch (engine.by) {
    case 'off':
      return undefined
    case 'server':
      return openAiTranscriber({ url: engine.url, fields: engine.fields, apiKey })
    case 'command':
      return commandTranscriber(engine.words)
    default:
      return hasPocketsphinx() ? pocketsphinx() : undefined
  }
}
