import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyCase } from '../../test/kit/every-case.js'
import { type TemporaryFolder, temporaryFolder } from '../../test/kit/temporary-folder.js'
import { createPathSource } from '../src/transcription/sources/from-address.js'
import { createTranscription } from '../src/transcription/transcription.js'
import { ffmpeg } from './recordings.js'

const HEADER_BYTES = 44
const SECONDS = 3

/** An engine that measures what it hears: the root mean square of the samples, as a share of full scale. */
function measuringTranscription() {
  let level = 0
  const transcription = createTranscription({
    transcriber: {
      name: 'measuring',
      givesTimes: false,
      async transcribe({ path }) {
        const bytes = (await readFile(path)).subarray(HEADER_BYTES)
        const samples = new Int16Array(new Uint8Array(bytes).buffer)
        const energy = samples.reduce((sum, sample) => sum + (sample / 32_768) ** 2, 0)
        level = Math.sqrt(energy / samples.length)
        return { text: 'words' }
      },
    },
    fetchOptions: { hosts: [] },
    log() {},
    maxConcurrent: 1,
  })
  return async (path: string) => {
    level = 0
    const answer = await transcription.transcribe(createPathSource(path), { application: 'x' })
    return { answer, level }
  }
}

describe('a recording as devices make it', () => {
  const hear = measuringTranscription()
  let folder: TemporaryFolder
  beforeAll(() => {
    folder = temporaryFolder()
  })
  afterAll(() => folder.remove())

  const TONE = `0.5*sin(2*PI*300*t)`
  const NOISE = `0.5*sin(2*PI*170*t+7*sin(2*PI*3*t))`

  /** A file whose channels are these functions of the time. */
  async function made(name: string, channels: readonly string[], ...encoding: readonly string[]) {
    const path = join(folder.path, name)
    const layouts: Readonly<Record<number, string>> = { 1: 'mono', 2: 'stereo', 4: 'quad', 6: '5.1' }
    const source = `aevalsrc='${channels.join('|')}':c=${layouts[channels.length]}:s=16000:d=${SECONDS}`
    await ffmpeg('-f', 'lavfi', '-i', source, ...encoding, path)
    return path
  }

  test('is heard where its channels cancel each other out, or the mix leaves them out', async () => {
    const opposite = [TONE, `-${TONE}`]
    await everyCase<[string, readonly string[], ...(readonly string[])]>(
      [
        ['opposite.wav', opposite],
        ['opposite.mp3', opposite, '-b:a', '128k', '-joint_stereo', '0'],
        ['opposite.flac', opposite],
        ['opposite.webm', opposite, '-c:a', 'libopus'],
        ['quieter.wav', [TONE, `-0.9*${TONE}`]],
        ['quieter left.wav', [`-0.8*${TONE}`, TONE]],
        ['nearly half.wav', [TONE, `-0.6*${TONE}`]],
        ['last of four.wav', ['0', '0', '0', TONE]],
        ['bass only.wav', ['0', '0', '0', TONE, '0', '0']],
        ['opposite behind.wav', ['0', '0', '0', '0', TONE, `-${TONE}`]],
        ['centre only.wav', ['0', '0', TONE, '0', '0', '0']],
        // Controls: one channel is as loud in the mix as before.
        ['mono.wav', [TONE]],
        ['same.wav', [TONE, TONE]],
        ['left.wav', [TONE, '0']],
        ['right.wav', ['0', TONE]],
        ['different.wav', [TONE, NOISE]],
      ],
      async ([name, channels, ...encoding]) => {
        const { answer, level } = await hear(await made(name, channels, ...encoding))
        expect(answer).toMatchObject({ outcome: 'transcribed', text: 'words' })
        // A sine of amplitude 0.5 has 0.354; one of two channels in the mix, half of it.
        expect(level).toBeGreaterThan(0.08)
      },
    )
    const silent = await hear(await made('silent.wav', ['0', '0']))
    expect([silent.answer.outcome, silent.level]).toEqual(['transcribed', 0])
    const both = await hear(await made('both.wav', [TONE, NOISE]))
    expect(both.level, 'both speakers are in the mix').toBeLessThan(0.3)
  })

  test('is transcribed up to the cut, however its last frame ends', async () => {
    const fragments = [
      '-c:a',
      'aac',
      '-movflags',
      '+frag_keyframe+empty_moov+default_base_moof',
      '-frag_duration',
      '500000',
    ]
    await everyCase<[string, ...(readonly string[])]>(
      [
        ['front.m4a', '-c:a', 'aac', '-movflags', '+faststart'],
        ['fragmented.mp4', ...fragments],
        ['plain.flac'],
        ['alac.m4a', '-c:a', 'alac', '-movflags', '+faststart'],
        ['plain.wav'],
        ['plain.mp3'],
        ['opus.ogg', '-c:a', 'libopus'],
        ['adts.aac'],
        ['live.webm', '-c:a', 'libopus', '-live', '1'],
      ],
      async ([name, ...encoding]) => {
        const bytes = await readFile(await made(name, [NOISE], ...encoding))
        for (const share of [0.4, 0.67, 1]) {
          const path = join(folder.path, `cut at ${share} ${name}`)
          await writeFile(path, bytes.subarray(0, Math.floor(bytes.length * share)))
          const { answer, level } = await hear(path)
          expect([share, answer]).toMatchObject([share, { outcome: 'transcribed' }])
          expect(answer.outcome === 'transcribed' && answer.durationSeconds).toBeGreaterThan(
            SECONDS * share * 0.5,
          )
          expect(level).toBeGreaterThan(0.2)
        }
      },
    )
  })

  test('is refused as damaged if more than its end cannot be decoded', async () => {
    const path = await made('noise.m4a', [NOISE], '-c:a', 'aac', '-movflags', '+faststart')
    const bytes = await readFile(path)
    const half = Math.floor(bytes.length / 2)
    for (let at = half; at < 1.5 * half; at++) bytes[at] = (at * 7_919) % 251
    await writeFile(path, bytes)
    expect((await hear(path)).answer).toMatchObject({ refusal: { reason: 'recording_damaged' } })
  })

  test('says that it contains no sound, if it is a film without a sound track', async () => {
    const film = ['-f', 'lavfi', '-i', 'color=size=16x16:duration=1:r=5']
    const reason = { reason: 'unsupported_media' }
    await everyCase(['film.mp4', 'film.webm', 'film.mkv', 'film.mov'], async (name) => {
      const path = join(folder.path, name)
      await ffmpeg(...film, path)
      const { answer } = await hear(path)
      expect(answer).toMatchObject({ refusal: { ...reason, detail: 'The file contains no sound.' } })
    })
    const page = join(folder.path, 'page.mp3')
    await writeFile(page, '<!doctype html><title>404</title>'.repeat(50))
    const { answer } = await hear(page)
    expect(answer).toEqual({ outcome: 'refused', refusal: reason })
  })
})
