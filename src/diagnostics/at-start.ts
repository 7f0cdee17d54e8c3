import type { Settings } from '../settings.js'
import type { WarningCode } from './warnings.js'

type Environment = Readonly<Record<string, string | undefined>>

/** What can be told from the options and the environment alone. */
export function warningsAtStart(
  { limits, service, trustedDevices }: Pick<Settings, 'limits' | 'service' | 'trustedDevices'>,
  env: Environment = process.env,
): WarningCode[] {
  const findings: WarningCode[] = []
  if (limits.store === 'memory') {
    if (isOneOfSeveral(env)) findings.push('MFA_WARN_SEPARATE_COUNTERS')
    else if (env.NODE_ENV === 'production') findings.push('MFA_WARN_MEMORY_COUNTERS')
  }
  if (trustedDevices?.store === 'memory' && (env.NODE_ENV === 'production' || isOneOfSeveral(env))) {
    findings.push('MFA_WARN_MEMORY_DEVICES')
  }
  if (trustedDevices && !trustedDevices.fingerprint && env.NODE_ENV === 'production') {
    findings.push('MFA_WARN_TRUST_OUTLIVES_PASSWORD')
  }
  // Plain http got through the options only for this machine, or by the switch that allows it.
  if ('baseUrl' in service && service.allowInsecureServiceUrl && service.baseUrl.startsWith('http:')) {
    findings.push('MFA_WARN_PLAIN_HTTP')
  }
  return findings
}

/** Whether a process manager says so: node:cluster, pm2 in cluster mode, or what Heroku and its like set. */
function isOneOfSeveral({
  NODE_UNIQUE_ID,
  NODE_APP_INSTANCE,
  WEB_CONCURRENCY,
  instances,
}: Environment): boolean {
  return (
    NODE_UNIQUE_ID !== undefined ||
    Number(NODE_APP_INSTANCE ?? 0) > 0 ||
    Number(WEB_CONCURRENCY ?? 1) > 1 ||
    Number(instances ?? 1) > 1
  )
}
