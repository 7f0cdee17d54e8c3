import { dirname } from 'node:path'
import { run } from '../child-process.js'
import type { Transcriber } from './transcriber.js'

/**
 * A program of this machine that is given the recording and prints the text: `{file}` among the parameters stands for
 * the path of a WAV file, 16 kHz, one channel.
 */
export function commandTranscriber(
  [program, ...parameters]: readonly [string, ...string[]],
  { name = 'command', language }: { readonly name?: string; readonly language?: string } = {},
): Transcriber {
  return {
    name,
    async transcribe({ path, signal }) {
      const filled = parameters.map((parameter) => parameter.replaceAll('{file}', path))
      const { status, output, complaint } = await run([program, ...filled], { folder: dirname(path), signal })
      if (status !== 0) throw new Error(`${name} ended with status ${status ?? 'none'}: ${complaint}`)
      const text = output.split(/\s+/).filter(Boolean).join(' ')
      return { text, ...(language && { language }) }
    },
  }
}
