import { onlyGiven } from '../option-rules.js'
import type { TranscribeRequest } from '../protocol/transcription.js'
import { isAddress, MAX_RECORDING_BYTES } from '../protocol/transcription-wire.js'
import type { Answer, CallLimits, Transport } from './transport.js'
import { uploadOf } from './upload.js'

/**
 * Posts the address of a recording, or a local recording as a form. Resolves to `undefined` if the file is too large to be sent.
 * @throws if the path cannot be opened (Node's own error) or is not a file.
 */
export async function sendRecording(
  transport: Transport,
  path: string,
  { file, language, prompt, format }: Pick<TranscribeRequest, 'file' | 'language' | 'prompt' | 'format'>,
  limits: CallLimits,
): Promise<Answer | undefined> {
  const parameters = onlyGiven({ language, prompt, response_format: format })
  if (isAddress(file)) return transport.post(path, { file, ...parameters }, limits)
  const upload = await uploadOf(file, MAX_RECORDING_BYTES, parameters)
  if (!upload) return undefined
  try {
    return await transport.upload(path, upload, limits)
  } finally {
    await upload.close()
  }
}
