import { type TranscriptionJob, type TranscriptionService, transcriptionWire } from 'countersign/protocol'
import type { Application } from '../application.js'
import { parseTranscribe } from '../requests/inputs.js'
import { type Job, TOO_MANY_JOBS_RETRY_SECONDS } from '../transcription/jobs/transcription-jobs.js'
import { answerOf } from '../transcription/recognized.js'
import { fileStats } from '../transcription/sources/from-path.js'
import type { FlowContext } from './context.js'
import { answer } from './in-process-answer.js'

type JobVerbs = Required<
  Pick<TranscriptionService, 'createTranscriptionJob' | 'transcriptionJob' | 'deleteTranscriptionJob'>
>

/** Transcription jobs without HTTP. */
export function inProcessJobs({ jobs }: FlowContext, findApplication: () => Promise<Application>): JobVerbs {
  const withId = <Result>(id: string, use: (application: string) => Promise<Result>) =>
    answer({ ok: true, value: id }, async () => use((await findApplication()).id))

  return {
    async createTranscriptionJob(request) {
      const stats = transcriptionWire.isAddress(request.file) ? undefined : await fileStats(request.file)
      return answer(parseTranscribe({ ...request, response_format: request.format }), async (input) => {
        if (!jobs.isAvailable) return refused({ reason: 'transcription_unavailable' })
        if (stats && stats.size > transcriptionWire.MAX_RECORDING_BYTES)
          return refused({ reason: 'file_too_large' })
        const { file, ...speech } = input
        const source = stats ? { path: file } : { address: file }
        const job = await jobs.create((await findApplication()).id, source, speech)
        if (!job) return refused({ reason: 'too_many_jobs', retryAfterSeconds: TOO_MANY_JOBS_RETRY_SECONDS })
        return { outcome: 'created' as const, job: publicJob(job) }
      })
    },
    transcriptionJob: (id) =>
      withId(id, async (application) => {
        const job = await jobs.find(application, id)
        return job && publicJob(job)
      }),
    deleteTranscriptionJob: (id) => withId(id, (application) => jobs.remove(application, id)),
  }
}

function refused<Refusal>(refusal: Refusal) {
  return { outcome: 'refused' as const, refusal }
}

function publicJob({ recognized, problem, ...job }: Job): TranscriptionJob {
  const transcript = recognized && answerOf(recognized)
  return {
    ...job,
    ...(transcript?.outcome === 'transcribed' && { transcript }),
    ...(problem !== undefined && { failure: problem }),
  }
}
