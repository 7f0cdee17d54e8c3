import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TranscriptSegment } from 'countersign/protocol'
import * as z from 'zod'
import { PACKAGE_FOLDER } from '../../telemetry/own-package.js'
import { runProgram } from '../decode.js'
import { primaryLanguage, type Transcriber } from './transcriber.js'

const PROGRAM = fileURLToPath(new URL('decoders/sherpa-onnx.cjs', PACKAGE_FOLDER))

const lineSchema = z.object({
  start: z.number().nonnegative(),
  end: z.number().nonnegative(),
  text: z.string(),
})

/** Whether `folder` contains what `deploy/install-sherpa-onnx.sh` installs. */
export function hasSherpaOnnx(folder: string): boolean {
  return ['model', 'silero_vad.onnx', 'node_modules/sherpa-onnx-node'].every((part) =>
    existsSync(join(folder, part)),
  )
}

/** sherpa-onnx with the model in `folder`, in a process of its own for each recording: its memory is that of the model. */
export function sherpaOnnx(folder: string): Transcriber {
  return {
    name: 'sherpa-onnx',
    givesTimes: true,
    async transcribe({ path, language, signal, onSegment }) {
      const segments: TranscriptSegment[] = []
      const command = [
        process.execPath,
        PROGRAM,
        folder,
        path,
        language ? primaryLanguage(language) : '',
      ] as const
      const { status, errorOutput } = await runProgram(command, {
        folder: dirname(path),
        signal,
        onLine(line) {
          const segment = segmentIn(line)
          if (!segment) return
          segments.push(segment)
          onSegment?.(segment)
        },
      })
      if (status !== 0) throw new Error(`sherpa-onnx exited with status ${status ?? 'none'}: ${errorOutput}`)
      return { text: segments.map(({ text }) => text).join(' '), segments }
    },
  }
}

/** The libraries of the engine print lines of their own. */
function segmentIn(line: string): TranscriptSegment | undefined {
  if (!line.startsWith('{')) return undefined
  const { start: startSeconds, end: endSeconds, text } = lineSchema.parse(JSON.parse(line))
  return { text, startSeconds, endSeconds }
}
