import { jobWire, streamWire, transcriptionWire } from 'countersign/speech'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import {
  createKeyedResponse,
  get,
  post,
  problemResponses,
  queryText,
  REQUEST_ID,
  WITH_BODY,
} from './operation.js'
import { header } from './schemas.js'

const JOB_PARAMETER = {
  name: 'id',
  in: 'path' as const,
  required: true,
  description: 'The id of a job of your application.',
  schema: { type: 'string' as const, pattern: jobWire.JOB_ID.source },
  example: 'tj_3p_W79o5l64pvICP53C_rw',
}

const EVENTS = [
  'event: progress\ndata: {"state":"decoding"}\n\n',
  'event: progress\ndata: {"state":"transcribing","seconds":2.12,"duration":2.79,"text":"go forward ten meters"}\n\n',
  'event: result\ndata: {"text":"go forward ten meters","duration":2.79,"language":"en"}\n\n',
].join('')

/** The operations of transcription, by path. */
export const SPEECH_OPERATIONS: ZodOpenApiPathsObject = {
  '/v1/transcribe': post({
    id: 'transcribe',
    summary: 'Transcribe a recording',
    description:
      'Transcribes the speech in an audio or video file, by default of at most 25 MB and 10 minutes. The service fetches the file from its address, or you upload it as `multipart/form-data`. `response_format` selects the form of the transcript. With `Accept: text/event-stream`, the response reports the progress: events named `progress`, then `result` with what the response would be otherwise, or `problem`.',
    tag: 'Speech',
    acceptsFile: true,
    body: transcriptionWire.transcribeBody,
    answer: transcriptionWire.transcribeAnswer,
    otherAnswers: {
      'text/plain': { schema: { type: 'string', examples: ['go forward ten meters'] } },
      'application/x-subrip': { schema: { type: 'string' } },
      'text/vtt': { schema: { type: 'string' } },
      'text/event-stream': {
        schema: { type: 'string' },
        example: EVENTS,
      },
    },
    problems: [...transcriptionWire.TRANSCRIPTION_REFUSALS, 'engine_failed', 'engine_unavailable'],
  }),
  [jobWire.JOBS_PATH]: post({
    id: 'createTranscriptionJob',
    summary: 'Transcribe a recording without waiting',
    description:
      'Creates a job with the parameters of `POST /v1/transcribe`, for recordings of by default at most 1 GB and 4 hours. An uploaded recording is stored, encrypted, until the job ends; an address is fetched when its turn comes. A job survives a restart of the service, and only your application can read it. It is deleted 24 hours after it ended, or 24 hours after it was created if it did not end.',
    tag: 'Speech',
    status: 202,
    acceptsFile: true,
    body: transcriptionWire.transcribeBody,
    answer: jobWire.transcriptionJobAnswer,
    problems: [
      'transcription_unavailable',
      'address_refused',
      'fetch_failed',
      'file_too_large',
      'too_many_jobs',
    ],
  }),
  [`${jobWire.JOBS_PATH}/{id}`]: {
    ...get({
      id: 'showTranscriptionJob',
      summary: 'Show a job',
      description: 'The state of a job, its transcript if it is done, and its problem if it failed.',
      tag: 'Speech',
      key: true,
      parameters: [JOB_PARAMETER],
      responses: {
        200: createKeyedResponse('Success.', jobWire.transcriptionJobAnswer),
      },
      problems: ['not_found', 'unavailable'],
    }),
    delete: get({
      id: 'deleteTranscriptionJob',
      summary: 'Cancel or delete a job',
      description: 'Ends the job if it runs, and deletes its recording and its transcript.',
      tag: 'Speech',
      key: true,
      parameters: [JOB_PARAMETER],
      responses: {
        204: { description: 'Success.', headers: { 'X-Request-Id': header('RequestId') } },
      },
      problems: ['not_found', 'unavailable'],
    }).get,
  },
  [streamWire.TICKETS_PATH]: {
    post: {
      operationId: 'createStreamTicket',
      summary: 'Create a ticket for a stream',
      description:
        'Lets a browser open one transcription stream without the API key, within 60 seconds. There are no parameters.',
      tags: ['Speech'],
      security: [{ apiKey: [] }],
      parameters: [REQUEST_ID],
      responses: {
        200: createKeyedResponse('Success.', streamWire.streamTicketAnswer),
        ...problemResponses([...WITH_BODY, 'transcription_unavailable']),
      },
    },
  },
  [streamWire.STREAM_PATH]: get({
    id: 'openStream',
    summary: 'Transcribe a stream of audio',
    description:
      'A WebSocket with the subprotocol `transcribe.v1`: audio in, text out while it is being spoken. `docs/realtime-transcription.md` of the package describes its messages. A browser passes a ticket instead of the API key.',
    tag: 'Speech',
    key: true,
    parameters: [
      queryText('ticket', 'A ticket instead of the API key.', 128),
      queryText(
        'language',
        'The language of the speech, as a BCP 47 tag. An engine that does not have it refuses the stream.',
        35,
        'en',
      ),
    ],
    responses: { 101: { description: 'The connection is a WebSocket.' } },
    problems: [
      'invalid_request',
      'invalid_ticket',
      'upgrade_required',
      'transcription_unavailable',
      'language_unavailable',
      'too_many_streams',
      'unavailable',
    ],
  }),
}
