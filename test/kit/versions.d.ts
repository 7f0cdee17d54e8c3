// Other versions of the host's packages, installed under other names.
declare module 'express4'
declare module 'passport06'

// Has no types of its own.
declare module 'passport-totp' {
  import type { Strategy as Base } from 'passport-strategy'

  type Verify = (
    user: { readonly id: string },
    done: (error: unknown, key: Buffer, period: number) => void,
  ) => void
  export class Strategy extends Base {
    constructor(verify: Verify)
    readonly name: string
  }
}
