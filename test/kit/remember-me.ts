import type { Request } from 'express'
import { Strategy } from 'passport-strategy'
import { testUsers } from './host.js'

/** Signs in the user named in the header `X-Remember`, on any request, as passport-remember-me does with a cookie. */
export class RememberMe extends Strategy {
  readonly name = 'remember-me'
  override authenticate(req: Request): void {
    const user = req.isAuthenticated() ? undefined : testUsers()[String(req.get('x-remember'))]
    if (user) this.success(user)
    else this.pass()
  }
}
