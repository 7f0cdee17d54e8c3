const express = require('express')

function accountRouter(mfa, csrfToken) {
  const router = express.Router()

  router.use((req, res, next) => (req.user ? next() : res.redirect('/login')))

  router.get('/', (req, res) => {
    res.send(`<!doctype html><title>Account</title><link rel="stylesheet" href="/style.css">
<p>Signed in as ${req.user.username}. <a href="/mfa">Two-step verification</a></p>
<form method="post" action="/orders"><input type="hidden" name="_csrf" value="${csrfToken(req)}"><button>Order</button></form>
<form method="post" action="/logout"><input type="hidden" name="_csrf" value="${csrfToken(req)}"><button>Sign out</button></form>`)
  })

  router.post('/orders', mfa.requireMfa({ maxAge: '15m' }), (_req, res) => res.status(201).send('Ordered.'))

  router.post('/logout', (req, res, next) => {
    req.logout((error) => (error ? next(error) : res.redirect('/login')))
  })

  return router
}

module.exports = { accountRouter }
