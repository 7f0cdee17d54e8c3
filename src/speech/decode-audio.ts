import { pipeline } from 'node:stream/promises'
import { STREAM_SAMPLE_RATE } from './stream.js'
import { TranscriptionError } from './transcription-error.js'

const MAX_ERROR_CHARACTERS = 400

/** Converts audio to that of a stream while it arrives. @throws {TranscriptionError} `unsupported_media` */
export async function* decodeAudio(
  audio: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer, void, undefined> {
  const input = ['-hide_banner', '-v', 'error', '-protocol_whitelist', 'pipe', '-i', 'pipe:0']
  const output = ['-map', '0:a:0', '-vn', '-sn', '-dn', '-ac', '1', '-ar', String(STREAM_SAMPLE_RATE)]
  // Loaded when it is first needed, so that the import of the package takes less.
  const { spawn } = await import('node:child_process')
  const child = spawn('ffmpeg', [...input, ...output, '-f', 's16le', 'pipe:1'], { stdio: 'pipe' })
  let errorOutput = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(-MAX_ERROR_CHARACTERS)
  })
  const ended = new Promise<number | undefined>((resolve, reject) => {
    child.once('error', (cause) => reject(notDecoded('ffmpeg could not be started: install it.', cause)))
    child.once('close', (status) => resolve(status ?? undefined))
  })
  // The code that awaits it later gets the error.
  ended.catch(() => {})
  let sourceError: { readonly error: unknown } | undefined
  pipeline(
    guardAudio(audio, (error) => {
      sourceError = { error }
    }),
    child.stdin,
  ).catch(() => {
    // ffmpeg ended, which its exit status reports, or the source failed, which `guarded` reports.
    child.kill('SIGKILL')
  })
  try {
    for await (const chunk of child.stdout) yield chunk
    const status = await ended
    if (sourceError) throw sourceError.error
    if (status !== 0) throw notDecoded(`ffmpeg could not decode the audio: ${errorOutput.trim()}`)
  } finally {
    child.kill('SIGKILL')
  }
}

async function* guardAudio(audio: AsyncIterable<Uint8Array>, onError: (error: unknown) => void) {
  try {
    for await (const chunk of audio) yield Buffer.from(chunk)
  } catch (error) {
    onError(error)
    throw error
  }
}

function notDecoded(message: string, cause?: unknown): TranscriptionError {
  return new TranscriptionError('unsupported_media', message, { cause })
}
