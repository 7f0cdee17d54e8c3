import { execFileSync } from 'node:child_process'
import { createHash, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeAttestationObject } from '@simplewebauthn/server/helpers'
import { encodeCbor } from '../../src/testing/authenticator-data.js'
import type { SoftwareRegistration } from '../../src/testing/key-response.js'

/**
 * A manufacturer of authenticators with a root certificate and one for attestations, which `openssl` makes. `days`: how long the root and
 * the other one are valid; -1 for one that has expired.
 */
export function manufacturer(aaguid: string, days = { root: 3650, leaf: 3650 }) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-attestation-'))
  const file = (name: string) => join(folder, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  openssl('req', ...ec, '-subj', '/CN=Root', '-keyout', file('root.key'), '-out', file('root.csr'))
  writeFileSync(file('root.ext'), 'basicConstraints=critical,CA:TRUE\n')
  const root = ['-in', file('root.csr'), '-signkey', file('root.key'), '-extfile', file('root.ext')]
  openssl('x509', '-req', ...root, '-days', `${days.root}`, '-out', file('root.pem'))
  const subject = '/C=GB/O=Maker/OU=Authenticator Attestation/CN=Maker attestation'
  openssl('req', ...ec, '-subj', subject, '-keyout', file('leaf.key'), '-out', file('leaf.csr'))
  writeFileSync(file('leaf.ext'), 'basicConstraints=critical,CA:FALSE\n')
  const issuer = ['-CA', file('root.pem'), '-CAkey', file('root.key'), '-CAcreateserial']
  const leaf = ['-in', file('leaf.csr'), '-out', file('leaf.pem'), '-extfile', file('leaf.ext')]
  openssl('x509', '-req', ...issuer, '-days', `${days.leaf}`, ...leaf)
  const der = (name: string) => openssl('x509', '-in', file(name), '-outform', 'DER')
  const [rootDer, leafDer] = [der('root.pem'), der('leaf.pem')]
  const key = readFileSync(file('leaf.key'), 'utf8')
  rmSync(folder, { recursive: true, force: true })

  return {
    /** Its metadata statement. */
    statement: {
      aaguid,
      description: 'Maker key',
      attestationRootCertificates: [rootDer.toString('base64')],
      protocolFamily: 'fido2',
    },
    /** The same credential with an attestation of this manufacturer. */
    attest(registration: SoftwareRegistration): SoftwareRegistration {
      const { attestationObject, clientDataJSON } = registration.response
      const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')))
      const authData = decoded.get('authData')
      const clientDataHash = createHash('sha256').update(Buffer.from(clientDataJSON, 'base64url')).digest()
      const sig = sign('sha256', Buffer.concat([authData, clientDataHash]), key)
      const attStmt = new Map<string, number | Uint8Array | Uint8Array[]>([
        ['alg', -7],
        ['sig', sig],
        ['x5c', [leafDer]],
      ])
      const attested = encodeCbor(
        new Map<string, string | Uint8Array | typeof attStmt>([
          ['fmt', 'packed'],
          ['attStmt', attStmt],
          ['authData', authData],
        ]),
      )
      const response = { ...registration.response, attestationObject: attested.toString('base64url') }
      return { ...registration, response }
    },
  }
}
