/** `server.js` has `requireMfa` before this route. */
export default function transfer(req, res) {
  res.json({ transferredBy: req.user.username })
}
