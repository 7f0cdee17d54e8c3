import { Inject, type MiddlewareConsumer, Module, type NestModule, RequestMethod } from '@nestjs/common'
import type { Mfa } from 'countersign'
import { AccountController } from './account.controller'
import { MFA, mfaProvider } from './mfa.provider'
import { UsersService } from './users.service'

@Module({ controllers: [AccountController], providers: [UsersService, mfaProvider] })
export class AppModule implements NestModule {
  constructor(@Inject(MFA) private readonly mfa: Mfa) {}

  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(this.mfa.requireMfa({ maxAge: '5m' }))
      .forRoutes({ path: 'transfer', method: RequestMethod.POST })
  }
}
