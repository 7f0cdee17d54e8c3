import type { Provider } from '@nestjs/common'
import { createMfa, type Mfa } from 'countersign'
import type { User } from './users.service'

/** The token under which other classes inject the parts of Countersign: `@Inject(MFA) private readonly mfa: Mfa`. */
export const MFA = Symbol('MFA')

export const mfaProvider: Provider<Mfa> = {
  provide: MFA,
  useFactory: () =>
    createMfa<User>({
      service: {
        baseUrl: process.env.MFA_BASE_URL,
        apiKey: process.env.MFA_API_KEY,
      },
      appName: 'Nest',
      factors: (user) => [{ method: 'sms', phone: user.phone }],
    }),
}
