const express = require('express')
const passport = require('passport')

function loginRouter(csrfToken) {
  const router = express.Router()

  router.get('/', (req, res) => {
    res.send(`<!doctype html><title>Sign in</title><link rel="stylesheet" href="/style.css">
<form method="post"><input type="hidden" name="_csrf" value="${csrfToken(req)}">
<label>Name <input name="username" autocomplete="username"></label>
<label>Password <input name="password" type="password" autocomplete="current-password"></label>
<button>Sign in</button></form>`)
  })

  // As before: the gate turns this login into a pending one, and `/` redirects to the second factor.
  router.post('/', passport.authenticate('local', { successRedirect: '/', failureRedirect: '/login' }))

  return router
}

module.exports = { loginRouter }
