import * as z from 'zod'
import { serviceProblem } from '../protocol/wire.js'
import { JOB_STATES } from './transcription.js'
import { transcribeAnswer } from './wire.js'

/** The path of `POST` requests for jobs, and above the jobs themselves. */
export const JOBS_PATH = '/v1/transcribe/jobs'

/** The form of the id of a job. */
export const JOB_ID = /^tj_[\w-]{22}$/

const createTimeRule = (description: string, example: string) =>
  z.iso.datetime().meta({ description, examples: [example] })

/** The response to `POST /v1/transcribe/jobs` with status 202, and to `GET /v1/transcribe/jobs/{id}` with status 200. */
export const transcriptionJobAnswer = z.object({
  id: z
    .string()
    .regex(JOB_ID)
    .meta({ description: 'The id of the job.', examples: ['tj_3p_W79o5l64pvICP53C_rw'] }),
  state: z.enum(JOB_STATES).meta({
    description:
      '`queued`: it waits for its turn. `running`: it is being transcribed. `done`: `result` is the transcript. `failed`: `problem` says why.',
  }),
  created_at: createTimeRule('When the job was created.', '2026-03-01T12:00:00.000Z'),
  expires_at: createTimeRule('When the job and its transcript are deleted.', '2026-03-02T12:00:00.000Z'),
  result: transcribeAnswer.optional().meta({
    description:
      'The transcript. With the formats `text`, `srt` and `vtt`, `text` is what the response to `POST /v1/transcribe` would be.',
  }),
  problem: serviceProblem.optional().meta({ description: 'Why the job failed.' }),
})
