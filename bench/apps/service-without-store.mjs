import pg from 'pg'

// The service as it is, but that a verification asks no store: the statement that would judge it is answered at once.
const row = { locked: false, disabled: false, ok: true, locked_until: 0, locks_until: null }
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (asked, ...rest) {
  const judges = asked.text?.startsWith('WITH held AS MATERIALIZED')
  return judges ? Promise.resolve({ rows: [row] }) : query.call(this, asked, ...rest)
}
await import('../../service/dist/main.js')
