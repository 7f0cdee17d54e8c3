import { commandTranscriber } from './command.js'
import { isInstalled } from '../child-process.js'
import type { Transcriber } from './transcriber.js'

const PROGRAM = 'pocketsphinx_continuous'

/** Whether Debian's `pocketsphinx` and its English model are there. */
export function hasPocketsphinx(): boolean {
  return isInstalled(PROGRAM)
}

/** CMU PocketSphinx with its default English model: needs no network, and is good enough to try things out. */
export function pocketsphinx(): Transcriber {
  const parameters = ['-infile', '{file}', '-logfn', '/dev/null']
  return commandTranscriber([PROGRAM, ...parameters], { name: 'pocketsphinx', language: 'en' })
}
