import { withStepUp } from '/browser.js'

const views = ['login', 'choose', 'code', 'account']
const byId = (id) => document.getElementById(id)

function show(view, message = '') {
  for (const id of views) byId(id).hidden = id !== view
  byId('message').textContent = message
}

const fetchWithStepUp = withStepUp()

/** Requests JSON. The browser sends the session cookie and the Origin header. */
async function api(method, path, body, send = fetch) {
  const response = await send(path, {
    method,
    headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { ok: response.ok, body: await response.json() }
}

/** Continues where the server says that this session stands. */
async function proceed() {
  const me = await api('GET', '/api/me')
  if (me.ok) {
    byId('greeting').textContent = `Signed in as ${me.body.username}.`
    return show('account')
  }
  const { body } = await api('GET', '/mfa')
  if (body.status !== 'pending') return show('login')
  offer(body.factors)
}

function offer(factors, message) {
  const buttons = factors.map(({ id, method, label, to }) => {
    const button = document.createElement('button')
    button.textContent = `${label ?? method}${to ? ` (${to})` : ''}`
    button.addEventListener('click', () => challenge(id))
    return button
  })
  byId('factors').replaceChildren(...buttons)
  show('choose', message)
}

async function challenge(factor) {
  const { ok, body } = await api('POST', '/mfa/challenge', { factor })
  if (ok) show('code')
  else show('choose', body.title)
}

byId('login').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { username, password } = event.target.elements
  const response = await fetch('/api/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: username.value, password: password.value }),
  })
  if (response.ok) return proceed()
  show('login', 'The name or the password is wrong.')
})

byId('code').addEventListener('submit', async (event) => {
  event.preventDefault()
  const { code } = event.target.elements
  const { ok, body } = await api('POST', '/mfa/verify', { code: code.value })
  code.value = ''
  if (ok) return proceed()
  const left = body.attemptsLeft === undefined ? '' : ` ${body.attemptsLeft} attempts left.`
  // With no attempt left, the user needs another code.
  if (body.code === 'invalid_code' && body.attemptsLeft > 0) return show('code', body.title + left)
  const state = await api('GET', '/mfa')
  if (state.body.status === 'pending') offer(state.body.factors, body.title)
  else show('login', body.title)
})

const notTransferred = {
  canceled: 'You canceled, so nothing was transferred.',
  failed: 'You could not be verified, so nothing was transferred.',
  blocked: 'Allow pop-ups for this page, and try again.',
}

byId('transfer').addEventListener('click', async () => {
  try {
    const { ok, body } = await api('POST', '/api/transfer', {}, fetchWithStepUp)
    show('account', ok ? 'Transferred.' : body.title)
  } catch (error) {
    if (error.reason === 'expired') return show('login', 'Please sign in again.')
    show('account', notTransferred[error.reason] ?? 'Please try again.')
  }
})

byId('logout').addEventListener('click', async () => {
  await api('POST', '/api/logout', {})
  await proceed()
})

await proceed()
