import { dirname } from 'node:path'
import type { TranscriptSegment, TranscriptWord } from 'countersign/protocol'
import { isInstalled, runProgram } from '../child-process.js'
import type { Transcriber } from './transcriber.js'

const PROGRAM = 'pocketsphinx_continuous'

/** A line with the times of a word: the word, its beginning and end in seconds, and how sure the decoder is. */
const WORD_LINE = /^(\S+) (\d+\.\d+) (\d+\.\d+) \d+\.\d+$/
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
    async transcribe({ path, signal }) {
      const args = ['-infile', path, '-logfn', '/dev/null', '-time', 'yes'] as const
      const result = await runProgram([PROGRAM, ...args], { folder: dirname(path), signal })
      const { status, output, errorOutput } = result
      if (status !== 0) throw new Error(`pocketsphinx exited with status ${status ?? 'none'}: ${errorOutput}`)
      const { segments, words } = parseOutput(output)
      return { text: segments.map(({ text }) => text).join(' '), language: 'en', segments, words }
    },
  }
}

/** Reads what the program prints: for each utterance a line with its text, then one line for each word. */
export function parseOutput(output: string): {
  readonly segments: TranscriptSegment[]
  readonly words: TranscriptWord[]
} {
  const utterances: { readonly text: string; readonly words: TranscriptWord[] }[] = []
  for (const line of output.split('\n').map((text) => text.trim())) {
    const word = wordIn(line)
    if (!word) {
      if (line !== '') utterances.push({ text: line, words: [] })
    } else if (!FILLER.test(word.word)) utterances.at(-1)?.words.push(word)
  }
  let endSeconds = 0
  const segments = utterances.map(({ text, words }) => {
    const startSeconds = words[0]?.startSeconds ?? endSeconds
    endSeconds = words.at(-1)?.endSeconds ?? startSeconds
    return { text, startSeconds, endSeconds }
  })
  return { segments, words: utterances.flatMap(({ words }) => words) }
}

function wordIn(line: string): TranscriptWord | undefined {
  const [, name, start, end] = WORD_LINE.exec(line) ?? []
  if (!name) return undefined
  // The dictionary counts the pronunciations of a word: `the(2)`.
  const word = name.replace(/\(\d+\)$/, '')
  return { word, startSeconds: Number(start), endSeconds: Number(end) }
}
