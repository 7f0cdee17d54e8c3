import { scryptSync, timingSafeEqual } from 'node:crypto'

const hashOf = (password, salt) => scryptSync(password, salt, 32)

/** Your table of users. This one has a single user: bob, with the password "a good password". */
const users = [
  {
    id: '1',
    username: 'bob',
    phone: '+447700900102',
    passwordVersion: 1,
    salt: 'a salt for each user',
    hash: hashOf('a good password', 'a salt for each user'),
  },
]

export const findById = (id) => users.find((user) => user.id === id)

/** The user with this name and password. */
export function findByPassword(username, password) {
  const user = users.find((candidate) => candidate.username === username)
  return user && timingSafeEqual(hashOf(password, user.salt), user.hash) ? user : undefined
}
