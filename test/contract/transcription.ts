import { describe, expect, it, onTestFinished } from 'vitest'
import type { TranscriptionService } from '../../src/speech/index.js'

/** Runs the tests that every `TranscriptionService` without an engine must pass. */
export function describeTranscription(
  name: string,
  open: () => Pick<TranscriptionService, 'transcribe'> & { close?(): Promise<void> },
): void {
  describe(`a recording, by ${name}`, () => {
    const opened = () => {
      const service = open()
      onTestFinished(() => service.close?.())
      return service
    }

    it('is refused if the service cannot transcribe', async () => {
      const refused = { outcome: 'refused', refusal: { reason: 'transcription_unavailable' } }
      const service = opened()
      expect(await service.transcribe({ file: 'https://media.example/a.mp3' })).toEqual(refused)
      expect(await service.transcribe({ file: new URL(import.meta.url).pathname })).toEqual(refused)
    })

    it('that does not exist or is not a file leads to an error', async () => {
      const service = opened()
      await expect(service.transcribe({ file: '/nowhere/a.mp3' })).rejects.toMatchObject({ code: 'ENOENT' })
      await expect(service.transcribe({ file: '/' })).rejects.toThrow('must be a file')
    })
  })
}
