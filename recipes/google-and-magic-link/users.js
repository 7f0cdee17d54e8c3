/** Your table of users. */
const users = [{ id: '1', email: 'bob@example.com', phone: '+447700900102' }]

export const findById = (id) => users.find((user) => user.id === id)

export const findByEmail = (email) => users.find((user) => user.email === email)
