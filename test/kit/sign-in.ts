import type { Test } from 'supertest'

/**
 * Sends the requests of a sign-in: an agent of `host.ts`, which keeps its cookies, or `request(app)`, which does not.
 * Each function below returns the request, so that `.type('form')`, `.set(...)` and `.expect(...)` can follow.
 */
interface Client {
  post(path: string): Test
}

/** Sends the first factor to the host app, whose users sign in with their names. */
export const login = (client: Client, name: string): Test => client.post('/login').send({ name })

/** Starts a challenge for one of the user's factors: a method, or the id of a factor such as `sms-2`. */
export const challenge = (client: Client, factor: string, { mountPath = '/mfa' } = {}): Test =>
  client.post(`${mountPath}/challenge`).send({ factor })

/** The fields that `verify` sends with the code, and the path. */
interface VerifyOptions {
  /** The factor that the code is of. Defaults to that of the challenge in progress. */
  readonly factor?: string
  /** Whether to trust this browser: `true` as JSON has it, `'on'` as a form has it. */
  readonly trust?: boolean | string
  readonly mountPath?: string
}

/** Verifies a code. */
export const verify = (
  client: Client,
  code: string | undefined,
  { mountPath = '/mfa', ...body }: VerifyOptions = {},
): Test => client.post(`${mountPath}/verify`).send({ code, ...body })
