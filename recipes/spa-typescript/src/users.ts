import { scryptSync, timingSafeEqual } from 'node:crypto'

/** A row of your table of users. */
export interface User {
  readonly id: string
  readonly username: string
  readonly email: string
  readonly phone: string
  readonly salt: string
  readonly hash: Buffer
}

declare global {
  namespace Express {
    interface User {
      readonly id: string
      readonly username: string
      readonly email: string
      readonly phone: string
    }
  }
}

const hashOf = (password: string, salt: string) => scryptSync(password, salt, 32)

const users: readonly User[] = [
  {
    id: '1',
    username: 'bob',
    email: 'bob@example.com',
    phone: '+447700900102',
    salt: 'a salt for each user',
    hash: hashOf('a good password', 'a salt for each user'),
  },
]

export const findById = (id: string): User | undefined => users.find((user) => user.id === id)

/** The user with this name and password. */
export function findByPassword(username: string, password: string): User | undefined {
  const user = users.find((candidate) => candidate.username === username)
  return user && timingSafeEqual(hashOf(password, user.salt), user.hash) ? user : undefined
}
