import { createElement as h } from 'react'

export default function Login() {
  return h(
    'form',
    { method: 'post' },
    h('label', null, 'Name ', h('input', { name: 'username', autoComplete: 'username' })),
    h('label', null, 'Password ', h('input', { name: 'password', type: 'password' })),
    h('button', { type: 'submit' }, 'Sign in'),
  )
}
