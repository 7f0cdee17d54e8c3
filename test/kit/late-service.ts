import type { TestService } from '../../src/testing/service.js'
import { signal } from './signal.js'

/** A service whose next answer to a code comes late, or which gets the next code twice. */
export function lateService(service: TestService) {
  let next: ((request: Parameters<TestService['verify']>[0]) => ReturnType<TestService['verify']>) | undefined
  return {
    service: {
      ...service,
      async verify(request) {
        const evaluate = next ?? service.verify
        next = undefined
        return evaluate(request)
      },
    } satisfies TestService,
    /** Has the next code evaluated twice, as behind a proxy that retries; the second answer counts. */
    double() {
      next = async (request) => {
        await service.verify(request)
        return service.verify(request)
      }
    },
    /** Has the next code evaluated at once and answered late: `evaluated` resolves in between, `release` lets the answer go. */
    hold() {
      const [evaluated, released] = [signal(), signal()]
      next = async (request) => {
        const answer = await service.verify(request)
        evaluated.give()
        await released.given
        return answer
      }
      return { evaluated: evaluated.given, release: released.give }
    },
  }
}
