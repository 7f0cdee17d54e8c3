import {
  type BackupMethod,
  type CodeKind,
  type DeliveredMethod,
  type Method,
  type Purpose,
  type TranscriptFormat,
  transcriptionWire,
  type VerifyType,
  wire,
} from 'countersign/protocol'
import { type Parsed, parse } from './parse.js'
import { anyMethodFor, type RequestUser, withUser } from './request-user.js'

/** The input of `sendCode`. */
export interface SendInput extends RequestUser {
  readonly method: DeliveredMethod
  readonly challenge: string | undefined
  readonly transaction: string | undefined
  readonly purpose: Purpose
}

/** The input of `verifyCode`. */
export interface VerifyInput extends RequestUser {
  readonly type: VerifyType
  readonly code: string
  readonly kind: CodeKind | undefined
  readonly challenge: string | undefined
  readonly transaction: string | undefined
}

/** The input of `sendBackupCodes`. */
export interface BackupInput extends RequestUser {
  readonly method: BackupMethod
}

/** The input of `removeFactor`. */
export interface RemoveFactorInput extends RequestUser {
  readonly factor: 'APP' | 'BACKUP'
}

/** Validates the parameters of `POST /v1/mfa`. */
export function parseSend(body: unknown): Parsed<SendInput> {
  return parse(wire.sendBody, body, (fields) => {
    const method = fields.Type.toLowerCase() as DeliveredMethod
    return withUser(fields, method, (user) => ({
      ...user,
      method,
      challenge: fields.Challenge,
      transaction: fields.Transaction,
      purpose: fields.Purpose ?? 'sign-in',
    }))
  })
}

/** A method whose contacts a verification of this type accepts. */
const METHOD_OF: Readonly<Record<VerifyType, Method>> = {
  EMAIL: 'email',
  PHONE: 'sms',
  APP: 'app',
  DUAL: 'dual',
}

/** Validates the parameters of `POST /v1/mfa/verify`. */
export function parseVerify(body: unknown): Parsed<VerifyInput> {
  return parse(wire.verifyBody, body, (fields) =>
    withUser(fields, METHOD_OF[fields.Type], (user) => ({
      ...user,
      type: fields.Type,
      code: fields.Code,
      kind: fields.Kind?.toLowerCase() as CodeKind | undefined,
      challenge: fields.Challenge,
      transaction: fields.Transaction,
    })),
  )
}

/** Validates the parameters of `POST /v1/mfa/app`. */
export function parseEnrollApp(body: unknown): Parsed<RequestUser> {
  return parse(wire.enrollAppBody, body, (fields) => withUser(fields, 'app', (user) => user))
}

/** Validates the parameters of `POST /v1/mfa/factors`. */
export function parseFactors(body: unknown): Parsed<RequestUser> {
  return parse(wire.factorsBody, body, (fields) => withUser(fields, anyMethodFor(fields), (user) => user))
}

/** Validates the parameters of `POST /v1/mfa/factors/remove`. */
export function parseRemoveFactor(body: unknown): Parsed<RemoveFactorInput> {
  return parse(wire.removeFactorBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({ ...user, factor: fields.Factor })),
  )
}

/** Validates the parameters of `POST /v1/mfa/backup/codes`. */
export function parseCreateBackupCodes(body: unknown): Parsed<RequestUser> {
  return parse(wire.createBackupCodesBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => user),
  )
}

/** Validates the parameters of `POST /v1/mfa/backup`. */
export function parseBackup(body: unknown): Parsed<BackupInput> {
  return parse(wire.backupBody, body, (fields) => {
    const method = fields.Type.toLowerCase() as BackupMethod
    return withUser(fields, method, (user) => ({ ...user, method }))
  })
}

/** The input of `transcribe`. */
export interface TranscribeInput {
  readonly file: string
  readonly language?: string | undefined
  readonly prompt?: string | undefined
  readonly format?: TranscriptFormat | undefined
}

/** Validates the parameters of `POST /v1/transcribe`, except for an uploaded file. */
export function parseTranscribe(body: unknown): Parsed<TranscribeInput> {
  return parse(transcriptionWire.transcribeBody, body, ({ response_format: format, ...value }) => ({
    ok: true,
    value: { ...value, ...(format && { format }) },
  }))
}
