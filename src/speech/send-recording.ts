import type { Answer, CallLimits, Transport } from '../client/transport.js'
import { OptionsError } from '../errors.js'
import { duration } from '../option-rules.js'
import { pickGiven } from '../shape.js'
import type { TranscribeRequest } from './transcription.js'
import { uploadOf } from './upload.js'
import { isAddress } from './wire.js'

const callTime = duration('1s', '6h', '60s').prefault('60s')

/** How many milliseconds a call with a recording may take. @throws {OptionsError} for any other value. */
export function callTimeoutMs(timeout: TranscribeRequest['timeout']): number {
  const read = callTime.safeParse(timeout)
  if (read.success) return read.data
  throw new OptionsError(read.error.issues.map(({ message }) => `timeout ${message}`))
}

/** Posts the address of a recording, or a file as a form. @throws Node's error if it cannot be read. */
export async function sendRecording(
  transport: Transport,
  path: string,
  { file, language, prompt, format }: Pick<TranscribeRequest, 'file' | 'language' | 'prompt' | 'format'>,
  limits: CallLimits,
): Promise<Answer> {
  const parameters = pickGiven({ language, prompt, response_format: format })
  if (isAddress(file)) return transport.post(path, { file, ...parameters }, limits)
  const upload = await uploadOf(file, parameters)
  try {
    return await transport.upload(path, upload, limits)
  } finally {
    await upload.close()
  }
}
