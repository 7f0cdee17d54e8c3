import { Controller, Get, HttpCode, Post, Req, UseGuards } from '@nestjs/common'
import type { Request } from 'express'
import { JwtGuard } from './jwt.guard'

@Controller()
@UseGuards(JwtGuard)
export class AccountController {
  @Get('me')
  me(@Req() req: Request) {
    return { username: req.user?.username }
  }

  /** `AppModule` requires a second factor of the last five minutes here. */
  @Post('transfer')
  @HttpCode(200)
  transfer() {
    return { status: 'transferred' }
  }
}
