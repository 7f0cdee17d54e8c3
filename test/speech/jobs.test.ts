import { expect, it } from 'vitest'
import { answer } from '../client/hostile-service.js'
import { speechPair } from './speech-pair.js'

it('reads the transcript of a job without the language that the service left empty', async () => {
  const { client } = await speechPair(
    answer(200, {
      id: 'tj_3p_W79o5l64pvICP53C_rw',
      state: 'done',
      created_at: '2026-01-02T03:04:05Z',
      expires_at: '2026-01-03T03:04:05Z',
      result: { text: 'go', duration: 4, language: '' },
    }),
    { dialect: 'countersign' },
  )
  const job = await client.transcriptionJob?.('tj_3p_W79o5l64pvICP53C_rw')
  expect(job?.transcript).toEqual({ outcome: 'transcribed', text: 'go', durationSeconds: 4 })
})
