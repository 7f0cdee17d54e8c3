/** The SQLSTATE of a missing privilege. */
export const INSUFFICIENT_PRIVILEGE = '42501'

const INVALID_TEXT = '22P02'
const CONFLICT = 'another statement created this row first'

/**
 * An integer expression that makes a statement fail because of another one, after which the store repeats it. The server's
 * log shows the reason and no part of the row, unlike that of a violated constraint. `column` is any text of the row at
 * hand: an expression without a column would fail as soon as the statement is planned.
 */
export const raiseConflict = (column: string) => `('${CONFLICT}' || left(${column}, 0))::integer`

/** Whether a statement failed by `raiseConflict`. */
export function isRaisedConflict(error: unknown): boolean {
  return findSqlState(error) === INVALID_TEXT && error instanceof Error && error.message.includes(CONFLICT)
}

/** The SQLSTATE code of an error that the database itself reported, or of its cause. */
export function findSqlState(error: unknown): string | undefined {
  const reported = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (!(reported instanceof Error && 'severity' in reported && 'code' in reported)) return undefined
  const { code } = reported
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}
