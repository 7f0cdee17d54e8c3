import { createElement } from 'react'

/** `req` is the request that passed the gate in `server.js`. */
export const getServerSideProps = ({ req }) => ({ props: { username: req.user.username } })

export default function Home({ username }) {
  return createElement('p', null, `Signed in as ${username}.`)
}
