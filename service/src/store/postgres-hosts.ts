import { ConfigurationError } from '../configuration-error.js'

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/

/** The values of `target_session_attrs` that a service can work with: it writes all the time. */
const WRITABLE = ['read-write', 'primary']

/**
 * The connection strings of each host in `postgresql://user:password@first:5432,second:5432/name`, in their order, as in
 * libpq. Throws a `ConfigurationError` for a `target_session_attrs` other than `read-write` or `primary`, which are what
 * the service always requires.
 */
export function connectionStrings(databaseUrl: string): string[] {
  const [, start = '', hosts = '', rest = ''] = PARTS.exec(databaseUrl) ?? []
  const [path = '', query = ''] = split(rest, '?')
  const parameters = new URLSearchParams(query)
  const wanted = parameters.get('target_session_attrs')
  if (wanted !== null && !WRITABLE.includes(wanted)) {
    throw new ConfigurationError([
      `target_session_attrs in DATABASE_URL must be read-write (got ${wanted}), because the service writes to its database.`,
    ])
  }
  // Not through URLSearchParams, which would change the encoding of the other parameters.
  const others = query.split('&').filter((part) => part !== '' && !part.startsWith('target_session_attrs='))
  const end = others.length > 0 ? `${path}?${others.join('&')}` : path
  return hosts.split(',').map((host) => `${start}${host}${end}`)
}

function split(text: string, by: string): string[] {
  const at = text.indexOf(by)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}
