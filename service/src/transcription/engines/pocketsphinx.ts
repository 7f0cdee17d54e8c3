import { dirname } from 'node:path'
import type { TranscriptSegment, TranscriptWord } from 'countersign/speech'
import { isInstalled, runProgram } from '../decode.js'
import type { Transcriber } from './transcriber.js'

const PROGRAM = 'pocketsphinx_continuous'

/** A line with the times of a word: the word, its beginning and end in seconds, and how sure the decoder is. */
const WORD_LINE = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/
const END_OF_UTTERANCE = '</s>'
/** Silence and noise, such as `<sil>` and `[NOISE]`. */
const FILLER = /^(<.*>|\[.*\]|\+\+.*\+\+)$/

/** Whether Debian's `pocketsphinx` is installed. */
export function hasPocketsphinx(): boolean {
  return isInstalled(PROGRAM)
}

/** CMU PocketSphinx with its default English model: needs no network and is good enough to try transcription out. */
export function pocketsphinx(): Transcriber {
  return {
    name: 'pocketsphinx',
    givesTimes: true,
    languages: ['en'],
    async transcribe({ path, signal, onSegment }) {
      const args = ['-infile', path, '-logfn', '/dev/null', '-time', 'yes'] as const
      const output = outputReader(onSegment)
      const { status, errorOutput } = await runProgram([PROGRAM, ...args], {
        folder: dirname(path),
        signal,
        onLine: output.read,
      })
      if (status !== 0) throw new Error(`pocketsphinx exited with status ${status ?? 'none'}: ${errorOutput}`)
      const { segments, words } = output.end()
      return { text: segments.map(({ text }) => text).join(' '), language: 'en', segments, words }
    },
  }
}

/** Reads what the program prints: for each utterance a line with its text, then one line for each word. */
export function outputReader(onSegment: (segment: TranscriptSegment) => void = () => {}) {
  const segments: TranscriptSegment[] = []
  const words: TranscriptWord[] = []
  let utterance: { readonly text: string; readonly words: TranscriptWord[] } | undefined

  function finish(): void {
    if (!utterance) return
    const startSeconds = utterance.words[0]?.startSeconds ?? segments.at(-1)?.endSeconds ?? 0
    const endSeconds = utterance.words.at(-1)?.endSeconds ?? startSeconds
    const segment = { text: utterance.text, startSeconds, endSeconds }
    segments.push(segment)
    words.push(...utterance.words)
    utterance = undefined
    onSegment(segment)
  }

  return {
    read(line: string): void {
      const text = line.trim()
      const word = parseWord(text)
      if (word?.word === END_OF_UTTERANCE) finish()
      else if (word && !FILLER.test(word.word)) utterance?.words.push(word)
      else if (!word && text !== '') {
        finish()
        utterance = { text, words: [] }
      }
    },
    end() {
      finish()
      return { segments, words }
    },
  }
}

function parseWord(line: string): TranscriptWord | undefined {
  const [, name, start, end, sureness] = WORD_LINE.exec(line) ?? []
  if (!name) return undefined
  // The dictionary counts the pronunciations of a word: `the(2)`.
  const word = name.replace(/\(\d+\)$/, '')
  // Its logarithms are rounded, so that a certain word has a little more than 1.
  const confidence = Math.min(Number(sureness), 1)
  return { word, startSeconds: Number(start), endSeconds: Number(end), confidence }
}
