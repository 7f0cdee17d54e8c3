import { Body, Controller, Get, HttpCode, Inject, Post, Req, UnauthorizedException } from '@nestjs/common'
import type { Request } from 'express'
import { UsersService } from './users.service'

@Controller()
export class AccountController {
  constructor(@Inject(UsersService) private readonly users: UsersService) {}

  @Post('login')
  @HttpCode(200)
  async login(@Req() req: Request, @Body() body: { username?: string; password?: string }) {
    const user = this.users.findByPassword(String(body.username), String(body.password))
    if (!user) throw new UnauthorizedException()
    // Any `req.logIn` starts a pending login, also that of a guard of @nestjs/passport.
    await new Promise<void>((resolve, reject) => {
      req.logIn(user, (error) => (error ? reject(error) : resolve()))
    })
    return { status: req.mfa?.status }
  }

  @Get('me')
  me(@Req() req: Request) {
    if (!req.user) throw new UnauthorizedException()
    return { username: req.user.username, mfa: req.mfa?.status }
  }

  /** `AppModule` requires a second factor of the last five minutes here. */
  @Post('transfer')
  transfer() {
    return { status: 'transferred' }
  }
}
