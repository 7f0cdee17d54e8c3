import { scryptSync, timingSafeEqual } from 'node:crypto'
import { Injectable } from '@nestjs/common'

/** A user as the app knows them. */
export interface User {
  readonly id: string
  readonly username: string
  readonly phone: string
}

declare global {
  namespace Express {
    interface User {
      readonly id: string
      readonly username: string
      readonly phone: string
    }
  }
}

const SALT = 'a salt for each user'
const BOB: User = { id: '1', username: 'bob', phone: '+447700900102' }
const BOBS_HASH = scryptSync('a good password', SALT, 32)

/** Your table of users. This one has a single user: bob, with the password "a good password". */
@Injectable()
export class UsersService {
  findById(id: string): User | undefined {
    return id === BOB.id ? BOB : undefined
  }

  findByPassword(username: string, password: string): User | undefined {
    const isBob = username === BOB.username && timingSafeEqual(scryptSync(password, SALT, 32), BOBS_HASH)
    return isBob ? BOB : undefined
  }
}
