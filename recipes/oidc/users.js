/** Your table of users. `subject` is the `sub` of the provider, which never changes. */
const users = [
  { id: '1', subject: 'bob-at-the-company', email: 'bob@example.com', phone: '+447700900102' },
  { id: '2', subject: 'eve-at-the-company', email: 'eve@example.com', phone: '+447700900103' },
]

export const findById = (id) => users.find((user) => user.id === id)

export const findBySubject = (subject) => users.find((user) => user.subject === subject)
