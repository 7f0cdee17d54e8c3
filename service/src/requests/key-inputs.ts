import { KEY_TYPE, type KeyMethod, type keyTypes, keyWire } from 'countersign/protocol'
import type * as z from 'zod'
import { type Parsed, parse } from './parse.js'
import { anyMethodFor, type RequestUser, withUser } from './request-user.js'

interface KeyInput extends RequestUser {
  readonly method: KeyMethod
  readonly transaction: string
}

/** The input of `keyRegistrationOptions`. */
export interface KeyRegistrationOptionsInput extends KeyInput {
  readonly userName: string
}

/** The input of `registerKey`. */
export interface RegisterKeyInput extends KeyInput {
  readonly name: string | undefined
  readonly response: z.output<typeof keyWire.registerKeyBody>['Response']
}

/** The input of `keyAuthenticationOptions`. */
export interface KeyAuthenticationOptionsInput extends KeyInput {
  readonly purpose: keyTypes.KeyPurpose
}

/** The input of `authenticateKey`. */
export interface AuthenticateKeyInput extends KeyAuthenticationOptionsInput {
  readonly response: z.output<typeof keyWire.authenticateKeyBody>['Response']
}

/** The input of `removeKey`. */
export interface RemoveKeyInput extends RequestUser {
  readonly key: string
}

/** The input of `renameKey`. */
export interface RenameKeyInput extends RemoveKeyInput {
  readonly name: string
}

/** Validates the parameters of `POST /v1/mfa/keys/registration/options`. */
export function parseKeyRegistrationOptions(body: unknown): Parsed<KeyRegistrationOptionsInput> {
  return parse(keyWire.keyRegistrationOptionsBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({
      ...ceremonyOf(user, fields),
      userName: fields.UserName ?? fields.User,
    })),
  )
}

/** Validates the parameters of `POST /v1/mfa/keys/registration/verify`. */
export function parseRegisterKey(body: unknown): Parsed<RegisterKeyInput> {
  return parse(keyWire.registerKeyBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({
      ...ceremonyOf(user, fields),
      name: fields.Name,
      response: fields.Response,
    })),
  )
}

/** Validates the parameters of `POST /v1/mfa/keys/authentication/options`. */
export function parseKeyAuthenticationOptions(body: unknown): Parsed<KeyAuthenticationOptionsInput> {
  return parse(keyWire.keyAuthenticationOptionsBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({
      ...ceremonyOf(user, fields),
      purpose: fields.Purpose,
    })),
  )
}

/** Validates the parameters of `POST /v1/mfa/keys/authentication/verify`. */
export function parseAuthenticateKey(body: unknown): Parsed<AuthenticateKeyInput> {
  return parse(keyWire.authenticateKeyBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({
      ...ceremonyOf(user, fields),
      purpose: fields.Purpose,
      response: fields.Response,
    })),
  )
}

/** Validates the parameters of `POST /v1/mfa/keys/list`. */
export function parseListKeys(body: unknown): Parsed<RequestUser> {
  return parse(keyWire.listKeysBody, body, (fields) => withUser(fields, anyMethodFor(fields), (user) => user))
}

/** Validates the parameters of `POST /v1/mfa/keys/rename`. */
export function parseRenameKey(body: unknown): Parsed<RenameKeyInput> {
  return parse(keyWire.renameKeyBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({ ...user, key: fields.Key, name: fields.Name })),
  )
}

/** Validates the parameters of `POST /v1/mfa/keys/remove`. */
export function parseRemoveKey(body: unknown): Parsed<RemoveKeyInput> {
  return parse(keyWire.removeKeyBody, body, (fields) =>
    withUser(fields, anyMethodFor(fields), (user) => ({ ...user, key: fields.Key })),
  )
}

function ceremonyOf(
  user: RequestUser,
  { Type, Transaction: transaction }: { readonly Type: string; readonly Transaction: string },
): KeyInput {
  const method: KeyMethod = Type === KEY_TYPE.passkey ? 'passkey' : 'security-key'
  return { ...user, method, transaction }
}
