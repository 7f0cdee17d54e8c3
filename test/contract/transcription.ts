import { describe, expect, it } from 'vitest'
import type { Contract } from './mfa-service.js'

export function describeTranscription({ opened }: Contract): void {
  describe('a recording', () => {
    it('is refused if the service cannot transcribe', async () => {
      const refused = { outcome: 'refused', refusal: { reason: 'transcription_unavailable' } }
      const { service } = opened()
      expect(await service.transcribe({ file: 'https://media.example/a.mp3' })).toEqual(refused)
      expect(await service.transcribe({ file: new URL(import.meta.url).pathname })).toEqual(refused)
    })

    it('that does not exist or is not a file leads to an error', async () => {
      const { service } = opened()
      await expect(service.transcribe({ file: '/nowhere/a.mp3' })).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(service.transcribe({ file: '/' })).rejects.toThrow('must be a file')
    })
  })
}
