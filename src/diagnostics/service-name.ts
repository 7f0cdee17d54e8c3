import type { EnrollAppRequest, MfaService } from '../protocol/service.js'

/**
 * The service, watched for the name that it gives the app. The URI of an authenticator app contains it (`issuer`), and messages
 * of the self-hosted service begin with it. `onOtherName` is called when it differs from `appName`.
 */
export function observeName<Service extends MfaService>(
  service: Service,
  appName: string,
  onOtherName: () => void,
): Service {
  const { enrollApp } = service
  if (!enrollApp) return service
  return {
    ...service,
    async enrollApp(request: EnrollAppRequest) {
      const answer = await enrollApp(request)
      const issuer = answer.outcome === 'prepared' ? issuerIn(answer.uri) : undefined
      if (issuer && issuer !== appName) onOtherName()
      return answer
    },
  }
}

function issuerIn(uri: string | undefined): string | undefined {
  if (uri === undefined || !URL.canParse(uri)) return undefined
  return new URL(uri).searchParams.get('issuer') ?? undefined
}
