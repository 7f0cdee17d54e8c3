/**
 * An integer expression that makes a statement fail as a conflict with another one, after which the store repeats it. It
 * names no row in the server's log, as a violated constraint would. `column` is any array of the row at hand: an
 * expression without a column would fail as soon as the statement is planned.
 */
export const raiseConflict = (column: string) => `(1 / (cardinality(${column}) - cardinality(${column})))`

/** The SQLSTATE of `raiseConflict`: a division by zero, which no other statement contains. */
export const RAISED_CONFLICT = '22012'
