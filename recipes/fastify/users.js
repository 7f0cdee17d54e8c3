import { scryptSync, timingSafeEqual } from 'node:crypto'

/** Your table of users. This one has a single user: bob, with the password "a good password". */
const users = [
  {
    id: '1',
    username: 'bob',
    email: 'bob@example.com',
    salt: 'a salt for each user',
    hash: scryptSync('a good password', 'a salt for each user', 32),
  },
]

export const findById = (id) => users.find((user) => user.id === id)

/** The user with this name and password. */
export function findByPassword(username, password) {
  const user = users.find((candidate) => candidate.username === username)
  return user && timingSafeEqual(scryptSync(password, user.salt, 32), user.hash) ? user : undefined
}
