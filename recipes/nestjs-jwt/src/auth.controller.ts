import {
  Body,
  Controller,
  HttpCode,
  Inject,
  Next,
  Post,
  Req,
  Res,
  UnauthorizedException,
} from '@nestjs/common'
import type { Mfa } from 'countersign'
import type { NextFunction, Request, Response } from 'express'
import { MFA } from './mfa.provider'
import { TokensService } from './tokens.service'
import { UsersService } from './users.service'

@Controller('auth')
export class AuthController {
  constructor(
    @Inject(MFA) private readonly mfa: Mfa,
    @Inject(TokensService) private readonly tokens: TokensService,
    @Inject(UsersService) private readonly users: UsersService,
  ) {}

  @Post('login')
  @HttpCode(200)
  login(
    @Req() req: Request,
    @Res() res: Response,
    @Next() next: NextFunction,
    @Body() body: { username?: string; password?: string },
  ): void {
    const user = this.users.findByPassword(String(body.username), String(body.password))
    if (!user) throw new UnauthorizedException()
    req.user = user
    this.mfa.tokens.begin(req, res, next)
  }

  @Post('refresh')
  @HttpCode(200)
  refresh(
    @Req() req: Request,
    @Res() res: Response,
    @Next() next: NextFunction,
    @Body() body: { refreshToken?: string },
  ): void {
    const claims = this.tokens.takeRefreshToken(String(body.refreshToken))
    const user = claims && this.users.findById(claims.sub)
    if (!user) throw new UnauthorizedException()
    Object.assign(req, { auth: claims, user })
    this.mfa.tokens.refresh(req, res, (error?: unknown) => {
      if (error || !req.mfa?.claims) next(error)
      else res.json(this.tokens.issue(req.mfa.claims))
    })
  }
}
