import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { isInstalled, runProgram } from '../decode.js'
import { type OpenAiSettings, openAiTranscriber } from './openai-transcriber.js'
import { hasPocketsphinx, pocketsphinx } from './pocketsphinx.js'
import type { Transcriber } from './transcriber.js'

/** The engine that the option `transcriber` selects. */
export type Engine =
  | { readonly by: 'auto' | 'off' | 'pocketsphinx' }
  | { readonly by: 'command'; readonly words: readonly [string, ...string[]] }
  | { readonly by: 'server'; readonly url: string; readonly fields: Readonly<Record<string, string>> }

/** A server has its own queue and its own cores, so it may be sent more recordings than this machine has cores. */
const SERVER_CONCURRENCY = 16

const DEFAULT_PATH = '/v1/audio/transcriptions'

/** Parses `auto`, `off`, `pocketsphinx`, `command:…` or an address. The result is a string if the option is invalid. */
export function parseEngine(text: string): Engine | string {
  if (text === 'auto' || text === 'off' || text === 'pocketsphinx') return { by: text }
  if (text.startsWith('command:')) return parseCommand(text.slice('command:'.length))
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    return 'transcriber must be auto, off, pocketsphinx, command:… or the address of a transcription server'
  }
  const url = new URL(text)
  if (url.username || url.password) {
    return 'transcriber must not contain a user name or password: set the key in transcriberKey (SERVICE_TRANSCRIBER_KEY)'
  }
  const fields = { model: 'whisper-1', ...Object.fromEntries(url.searchParams) }
  return { by: 'server', url: `${url.origin}${url.pathname === '/' ? DEFAULT_PATH : url.pathname}`, fields }
}

function parseCommand(text: string): Engine | string {
  const words = [...text.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  const [program, ...args] = words
  if (!program) {
    return 'transcriber command: must name a program, for example command:whisper-cli -nt -f {file}'
  }
  if (!args.some((arg) => arg.includes('{file}'))) {
    return 'transcriber command: must contain {file} in place of the recording, for example command:whisper-cli -nt -f {file}'
  }
  return { by: 'command', words: [program, ...args] }
}

/** The selected engine; `undefined` when there is none, or when ffmpeg is not installed. */
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

/** How many recordings an engine transcribes at once unless the operator says otherwise. */
export function concurrencyOf({ by }: Engine): number {
  return by === 'server' ? SERVER_CONCURRENCY : availableParallelism()
}

/**
 * Runs a local program that transcribes a file and prints the text, without times. `{file}` in its arguments stands for the path
 * of a WAV file, 16 kHz, mono.
 */
export function commandTranscriber([program, ...args]: readonly [string, ...string[]]): Transcriber {
  return {
    name: 'command',
    givesTimes: false,
    async transcribe({ path, signal }) {
      const filled = args.map((arg) => arg.replaceAll('{file}', path))
      const { status, output, errorOutput } = await runProgram([program, ...filled], {
        folder: dirname(path),
        signal,
      })
      if (status !== 0) throw new Error(`command exited with status ${status ?? 'none'}: ${errorOutput}`)
      return { text: output.split(/\s+/).filter(Boolean).join(' ') }
    },
  }
}
