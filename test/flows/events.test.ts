import { expect, it } from 'vitest'
import { host, signInFully } from '../kit/host.js'

it.each([
  [
    'throws',
    () => {
      throw new Error('no room for events')
    },
  ],
  ['rejects', async () => Promise.reject(new Error('no room for events'))],
])(
  'an event whose taker %s is logged, changes nothing, and does not end the process (R83)',
  async (_how, onEvent) => {
    const unheard: unknown[] = []
    const hear = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', hear)
    const errors: string[] = []
    const logger = { warn: () => {}, error: (message: string) => void errors.push(message) }
    try {
      await (await signInFully(host({ options: { onEvent, logger } }), 'bob')).get('/secret').expect(200)
    } finally {
      process.off('unhandledRejection', hear)
    }
    expect(unheard).toEqual([])
    expect(errors[0]).toContain('onEvent failed')
  },
)
