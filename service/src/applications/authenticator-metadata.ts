import * as z from 'zod'
import type { AuthenticatorModel } from '../application.js'

const AAGUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const MAX_MODELS = 200

// FIDO Metadata Service §3.1.4: what makes a model's attestation worthless.
const COMPROMISED = [
  'USER_VERIFICATION_BYPASS',
  'ATTESTATION_KEY_COMPROMISE',
  'USER_KEY_REMOTE_COMPROMISE',
  'USER_KEY_PHYSICAL_COMPROMISE',
  'REVOKED',
]

const statement = z.object({
  aaguid: z.string().regex(AAGUID),
  description: z.string().max(500),
  attestationRootCertificates: z.array(z.string().max(10_000)).min(1).max(100),
})
const entry = z.object({
  metadataStatement: z.unknown(),
  statusReports: z.array(z.object({ status: z.string() })).default([]),
})
const payload = z.object({ entries: z.array(entry) })

/** The rule for the id of a model of authenticators; `field` is the name of the option. */
export function aaguidList(field: string) {
  const error = `${field} must be a list of AAGUIDs such as ee882879-721c-4913-9775-3dfcce97072a`
  const aaguid = z.string({ error }).toLowerCase().regex(AAGUID, { error })
  return z.array(aaguid, { error }).transform((ids) => [...new Set(ids)])
}

/**
 * The rule for metadata of authenticators: the payload of a metadata BLOB of the FIDO Alliance (`{ entries: […] }`), or a list of
 * metadata statements. Compromised models and those without an AAGUID are left out, and of the rest only what we need is kept.
 */
export function metadataRule(field: string) {
  return z.unknown().transform((given, context): readonly AuthenticatorModel[] => {
    const models = modelsIn(given)
    const message = Array.isArray(models)
      ? `${field} must have at most ${MAX_MODELS} authenticators: keep those that you accept`
      : `${field} must be JSON: metadata statements of the FIDO Alliance, or the payload of its BLOB`
    if (models && models.length <= MAX_MODELS) return models
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
}

function modelsIn(given: unknown): AuthenticatorModel[] | undefined {
  const blob = payload.safeParse(given)
  const valid = blob.data?.entries.filter(
    ({ statusReports }) => !statusReports.some(({ status }) => COMPROMISED.includes(status)),
  )
  const statements = valid?.map(({ metadataStatement }) => metadataStatement) ?? given
  if (!Array.isArray(statements)) return undefined
  const parsed = statements.map((one) => statement.safeParse(one))
  // A BLOB also has authenticators of older protocols, which have no AAGUID.
  if (!blob.success && parsed.some(({ success }) => !success)) return undefined
  return parsed.flatMap(({ data }) => data ?? [])
}
