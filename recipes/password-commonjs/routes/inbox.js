const express = require('express')

/** In development only: the messages that the service would have sent. */
function inboxRouter(inbox) {
  const router = express.Router()
  router.get('/', async (_req, res, next) => {
    try {
      res.json(await inbox.messages())
    } catch (error) {
      next(error)
    }
  })
  return router
}

module.exports = { inboxRouter }
