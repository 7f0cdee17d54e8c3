/** The SQLSTATE code of an error that the database itself reported. */
export function sqlStateOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in (error as Error)
    ? code
    : undefined
}
