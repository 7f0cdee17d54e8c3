import { Inject, type MiddlewareConsumer, Module, type NestModule, RequestMethod } from '@nestjs/common'
import type { Mfa } from 'countersign'
import { AccountController } from './account.controller'
import { AuthController } from './auth.controller'
import { JwtGuard } from './jwt.guard'
import { MFA, mfaProvider } from './mfa.provider'
import { TokensService } from './tokens.service'
import { UsersService } from './users.service'

@Module({
  controllers: [AccountController, AuthController],
  providers: [UsersService, TokensService, JwtGuard, mfaProvider],
})
export class AppModule implements NestModule {
  constructor(
    @Inject(MFA) private readonly mfa: Mfa,
    @Inject(JwtGuard) private readonly guard: JwtGuard,
  ) {}

  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(this.guard.middleware, this.mfa.requireMfa({ maxAge: '5m' }))
      .forRoutes({ path: 'transfer', method: RequestMethod.POST })
  }
}
