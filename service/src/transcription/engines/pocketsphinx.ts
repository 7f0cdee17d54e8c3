import { isInstalled } from '../child-process.js'
import { commandTranscriber } from './command-transcriber.js'
import type { Transcriber } from './transcriber.js'

const PROGRAM = 'pocketsphinx_continuous'

/** Whether Debian's `pocketsphinx` is installed. */
export function hasPocketsphinx(): boolean {
  return isInstalled(PROGRAM)
}

/** CMU PocketSphinx with its default English model: needs no network and is good enough to try transcription out. */
export function pocketsphinx(): Transcriber {
  const args = ['-infile', '{file}', '-logfn', '/dev/null']
  return commandTranscriber([PROGRAM, ...args], { name: 'pocketsphinx', language: 'en' })
}
