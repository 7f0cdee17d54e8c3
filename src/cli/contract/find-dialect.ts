import { httpService } from '../../client/service.js'
import { type DialectInput, PUBLISHED } from '../../options/dialect.js'
import type { ServiceAddress } from '../../options/service.js'
import { readServiceAddress } from '../../options/settings.js'
import { throwAwayContact } from './app-user.js'

/** The value of the option `service.dialect` for a service. */
export type FoundDialect = 'countersign' | 'published' | DialectInput

// The published documentation does not show where an app is set up.
const ENROLL_PATHS = [
  PUBLISHED.paths.enrollApp,
  '/v1/mfa/totp',
  '/v1/mfa/enroll',
  '/v1/mfa/qr',
  '/v1/authenticators',
]

/**
 * Finds the dialect in which the service sets up an authenticator app.
 * @throws {Error} when there is none, with the answer to each attempt.
 */
export async function findDialect(
  address: Pick<ServiceAddress, 'baseUrl' | 'apiKey'>,
  enrollPath?: string,
): Promise<FoundDialect> {
  const paths = enrollPath === undefined ? ENROLL_PATHS : [enrollPath]
  const dialects = paths.flatMap((path) => [createDialect(path, 'form'), createDialect(path, 'json')])
  const tried: string[] = []
  for (const dialect of ['detect', ...dialects] as const) {
    const service = httpService(readServiceAddress({ ...address, dialect }))
    try {
      const { outcome } = await service.enrollApp({ contact: throwAwayContact() })
      if (outcome === 'prepared') return dialect === 'detect' ? 'countersign' : dialect
      tried.push(`${JSON.stringify(dialect)}: ${outcome}`)
    } catch (error) {
      tried.push(`${JSON.stringify(dialect)}: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      await service.close()
    }
  }
  const attempts = tried.join('\n  ')
  throw new Error(
    `The service sets up no authenticator app. Name the path with --enroll-path. Tried:\n  ${attempts}`,
  )
}

/** The parts that differ from the published API. */
function createDialect(enrollApp: string, contentType: 'form' | 'json'): FoundDialect {
  const isUsual = enrollApp === PUBLISHED.paths.enrollApp
  if (isUsual && contentType === 'form') return 'published'
  return { ...(contentType === 'json' && { contentType }), ...(!isUsual && { paths: { enrollApp } }) }
}
