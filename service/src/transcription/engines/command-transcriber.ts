import { dirname } from 'node:path'
import { runProgram } from '../child-process.js'
import type { Transcriber } from './transcriber.js'

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
