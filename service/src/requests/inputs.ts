import {
  type BackupMethod,
  backupBody,
  type CodeKind,
  type DeliveredMethod,
  enrollAppBody,
  type Method,
  type Purpose,
  sendBody,
  type TranscribeRequest,
  transcribeBody,
  type VerifyType,
  verifyBody,
} from 'countersign/protocol'
import { type Person, withPerson } from './request-user.js'
import { type Reading, read } from './parse.js'

export interface SendInput extends Person {
  readonly method: DeliveredMethod
  readonly challenge: string | undefined
  readonly transaction: string | undefined
  readonly purpose: Purpose
}

export interface VerifyInput extends Person {
  readonly type: VerifyType
  readonly code: string
  readonly kind: CodeKind | undefined
  readonly challenge: string | undefined
  readonly transaction: string | undefined
}

export interface BackupInput extends Person {
  readonly method: BackupMethod
}

/** Reads the parameters of `POST /v1/mfa`. */
export function readSend(body: unknown): Reading<SendInput> {
  return read(sendBody, body, (parsed) => {
    const method = parsed.Type.toLowerCase() as DeliveredMethod
    return withPerson(parsed, method, (person) => ({
      ...person,
      method,
      challenge: parsed.Challenge,
      transaction: parsed.Transaction,
      purpose: parsed.Purpose ?? 'sign-in',
    }))
  })
}

const FITTING: Readonly<Record<VerifyType, Method>> = {
  EMAIL: 'email',
  PHONE: 'sms',
  APP: 'app',
  DUAL: 'dual',
}

/** Reads the parameters of `POST /v1/mfa/verify`. */
export function readVerify(body: unknown): Reading<VerifyInput> {
  return read(verifyBody, body, (parsed) =>
    withPerson(parsed, FITTING[parsed.Type], (person) => ({
      ...person,
      type: parsed.Type,
      code: parsed.Code,
      kind: parsed.Kind?.toLowerCase() as CodeKind | undefined,
      challenge: parsed.Challenge,
      transaction: parsed.Transaction,
    })),
  )
}

/** Reads the parameters of `POST /v1/mfa/app`. */
export function readEnrollApp(body: unknown): Reading<Person> {
  return read(enrollAppBody, body, (parsed) => withPerson(parsed, 'app', (person) => person))
}

/** Reads the parameters of `POST /v1/mfa/backup`. */
export function readBackup(body: unknown): Reading<BackupInput> {
  return read(backupBody, body, (parsed) => {
    const method = parsed.Type.toLowerCase() as BackupMethod
    return withPerson(parsed, method, (person) => ({ ...person, method }))
  })
}

/** Reads the parameters of `POST /v1/transcribe` that are not an upload. */
export function readTranscribe(body: unknown): Reading<TranscribeRequest> {
  return read(transcribeBody, body, (value) => ({ ok: true, value }))
}
