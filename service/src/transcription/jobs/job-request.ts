import { TRANSCRIPT_FORMATS } from 'countersign/protocol'
import * as z from 'zod'
import type { Keys } from '../../secrets/keys.js'
import { open, seal } from '../../secrets/seal.js'
import { jobIdentity } from '../../secrets/seal-identity.js'

const schema = z.object({
  /** The key of the job, in base64. */
  key: z.string(),
  /** The address of the recording; absent when it is stored. */
  address: z.string().optional(),
  language: z.string().optional(),
  prompt: z.string().optional(),
  format: z.enum(TRANSCRIPT_FORMATS).optional(),
})

/** What a job does, and the key of what belongs to it. */
export interface JobRequest extends Omit<z.output<typeof schema>, 'key'> {
  readonly key: Buffer
}

/** Whose job it is. */
export interface JobOwner {
  readonly application: string
  readonly id: string
}

/** Encrypts the request of a job, which may contain an address with a token. */
export function sealRequest(keys: Keys, { application, id }: JobOwner, request: JobRequest): string {
  const text = JSON.stringify({ ...request, key: request.key.toString('base64') })
  return seal(keys, jobIdentity(application, id), text)
}

/** Decrypts the request of a job. */
export function openRequest(keys: Keys, { application, id }: JobOwner, sealed: string): JobRequest {
  const { key, ...request } = schema.parse(JSON.parse(open(keys, jobIdentity(application, id), sealed)))
  return { ...request, key: Buffer.from(key, 'base64') }
}
