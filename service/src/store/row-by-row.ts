/**
 * The end of a LATERAL query: PostgreSQL runs it for each row, by an index. Without it, a statement that was planned while the
 * table had few rows could read the table as a whole and join it, for as long as the plan is kept.
 */
export const ROW_BY_ROW = 'OFFSET 0'
