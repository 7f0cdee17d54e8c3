import type { Provider } from '@nestjs/common'
import { createMfa, type Mfa } from 'countersign'
import { JwtGuard } from './jwt.guard'
import { TokensService } from './tokens.service'
import { type User, UsersService } from './users.service'

/** The token under which other classes inject the parts of Countersign: `@Inject(MFA) private readonly mfa: Mfa`. */
export const MFA = Symbol('MFA')

export const mfaProvider: Provider<Mfa> = {
  provide: MFA,
  inject: [UsersService, TokensService, JwtGuard],
  useFactory: (users: UsersService, tokens: TokensService, guard: JwtGuard) =>
    createMfa<User>({
      service: {
        baseUrl: process.env.MFA_BASE_URL,
        apiKey: process.env.MFA_API_KEY,
      },
      appName: 'Nest',
      factors: (user) => [{ method: 'sms', phone: user.phone }],
      tokens: {
        findUser: (id) => users.findById(id),
        issue: (_user, claims, _req, reason) => tokens.issue(claims, reason),
        claims: (req) => req.auth,
        authenticate: guard.middleware,
        onEnded: (end) => tokens.revoke(end),
        store: 'memory',
        only: true,
      },
    }),
}
