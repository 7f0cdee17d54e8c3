import { describe, expect, test } from 'vitest'
import { outputReader } from '../src/transcription/engines/pocketsphinx.js'
import {
  answerOf,
  type Recognized,
  writeSrt,
  writeTranscript,
  writeVtt,
} from '../src/transcription/recognized.js'

const SEGMENTS = [
  { text: 'go forward', startSeconds: 0.4704, endSeconds: 2.12 },
  { text: 'a < b &\n\nmore -->', startSeconds: 59.9996, endSeconds: 3_725.5 },
]

describe('subtitles', () => {
  test('are counted cues in SubRip, with commas in their times', () => {
    expect(writeSrt(SEGMENTS)).toBe(
      '1\n00:00:00,470 --> 00:00:02,120\ngo forward\n\n2\n00:01:00,000 --> 01:02:05,500\na < b & more -->\n',
    )
    expect(writeSrt([])).toBe('')
  })

  test('are cues below a header in WebVTT, whose text is escaped', () => {
    expect(writeVtt(SEGMENTS)).toBe(
      'WEBVTT\n\n00:00:00.470 --> 00:00:02.120\ngo forward\n\n00:01:00.000 --> 01:02:05.500\na &lt; b &amp; more --&gt;\n',
    )
    expect(writeVtt([])).toBe('WEBVTT\n')
    const [spoken] = SEGMENTS
    expect(writeVtt(spoken ? [{ ...spoken, speaker: 'A & B' }] : [])).toContain('\n<v A &amp; B>go forward\n')
  })
})

describe('the output of pocketsphinx', () => {
  test('gives a segment for each utterance, and words without silence, noise and counts of pronunciations', () => {
    const output = [
      'go to the 3.5 mile',
      '<s> 0.390 0.460 1.000100',
      'go 0.470 0.640 0.997303',
      '<sil> 0.650 0.700 0.997303',
      'to(2) 0.710 0.900 0.9',
      '[NOISE] 0.910 0.920 0.9',
      '</s> 2.130 2.610 1.000000',
      'meters',
      'meters 4.000 4.500 1.000100',
      'without times',
      '',
    ]
    const reported: unknown[] = []
    const reader = outputReader((segment) => reported.push(segment))
    for (const line of output.slice(0, 7)) reader.read(line)
    expect(reported).toMatchObject([{ text: 'go to the 3.5 mile', endSeconds: 0.9 }])
    for (const line of output.slice(7)) reader.read(line)
    expect(reader.end()).toEqual({
      segments: [
        { text: 'go to the 3.5 mile', startSeconds: 0.47, endSeconds: 0.9 },
        { text: 'meters', startSeconds: 4, endSeconds: 4.5 },
        { text: 'without times', startSeconds: 4.5, endSeconds: 4.5 },
      ],
      words: [
        { word: 'go', startSeconds: 0.47, endSeconds: 0.64, confidence: 0.997303 },
        { word: 'to', startSeconds: 0.71, endSeconds: 0.9, confidence: 0.9 },
        { word: 'meters', startSeconds: 4, endSeconds: 4.5, confidence: 1 },
      ],
    })
    expect(reported).toEqual(reader.end().segments)
    expect(outputReader().end()).toEqual({ segments: [], words: [] })
  })
})

describe('a transcript', () => {
  const recognized = (format: Recognized['format']): Recognized => ({
    outcome: 'recognized',
    format,
    durationSeconds: 3,
    transcript: {
      text: 'go forward',
      language: 'en',
      segments: SEGMENTS.slice(0, 1),
      words: [{ word: 'go', startSeconds: 0.47, endSeconds: 0.64 }],
    },
  })

  test('has times in process only if they were requested', () => {
    const json = { outcome: 'transcribed', text: 'go forward', durationSeconds: 3, language: 'en' }
    expect(answerOf(recognized('json'))).toEqual(json)
    expect(answerOf(recognized('verbose_json'))).toEqual({
      ...json,
      segments: SEGMENTS.slice(0, 1),
      words: [{ word: 'go', startSeconds: 0.47, endSeconds: 0.64 }],
    })
    expect(answerOf(recognized('text'))).toEqual({ outcome: 'transcribed', text: 'go forward' })
    expect(answerOf(recognized('srt'))).toEqual({
      outcome: 'transcribed',
      text: writeSrt(SEGMENTS.slice(0, 1)),
    })
    expect(writeTranscript(recognized('vtt'))).toBe(writeVtt(SEGMENTS.slice(0, 1)))
  })
})
