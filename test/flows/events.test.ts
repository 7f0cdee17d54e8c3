import { expect, it } from 'vitest'
import { everyCase } from '../kit/every-case.js'
import { host, signInFully } from '../kit/host.js'

it('an onEvent function that fails is logged, changes nothing, and does not end the process (R83)', () =>
  everyCase(
    [
      [
        'throws',
        () => {
          throw new Error('the queue is full')
        },
      ],
      ['rejects', async () => Promise.reject(new Error('the queue is full'))],
    ],
    async ([_how, onEvent]) => {
      const unhandled: unknown[] = []
      const note = (error: unknown) => unhandled.push(error)
      process.on('unhandledRejection', note)
      const errors: string[] = []
      const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
      try {
        await (await signInFully(host({ options: { onEvent, logger } }), 'bob')).get('/secret').expect(200)
      } finally {
        process.off('unhandledRejection', note)
      }
      expect(unhandled).toEqual([])
      expect(errors[0]).toContain('onEvent failed')
    },
  ))
