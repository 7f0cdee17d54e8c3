import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  UnauthorizedException,
} from '@nestjs/common'
import type { NextFunction, Request, Response } from 'express'
import { TokensService } from './tokens.service'
import { UsersService } from './users.service'

declare global {
  namespace Express {
    interface Request {
      /** The payload of the access token, which is verified. */
      auth?: object
    }
  }
}

/** Lets requests with a valid access token pass. */
@Injectable()
export class JwtGuard implements CanActivate {
  constructor(
    @Inject(TokensService) private readonly tokens: TokensService,
    @Inject(UsersService) private readonly users: UsersService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.identify(context.switchToHttp().getRequest())) return true
    throw new UnauthorizedException()
  }

  /** The same as middleware, which runs before guards: for the MFA routes and before `requireMfa`. */
  readonly middleware = (req: Request, res: Response, next: NextFunction): void => {
    if (this.identify(req)) next()
    else res.status(401).json({ code: 'token_expired' })
  }

  private identify(req: Request): boolean {
    const [, token = ''] = /^Bearer (.+)$/.exec(req.get('authorization') ?? '') ?? []
    const payload = this.tokens.read(token)
    const user = payload && this.users.findById(String(Reflect.get(payload, 'sub')))
    if (user) Object.assign(req, { auth: payload, user })
    return user !== undefined
  }
}
