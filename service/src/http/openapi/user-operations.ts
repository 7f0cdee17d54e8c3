import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { accountExport } from '../../accounts/export-schema.js'
import { accountBody } from '../../requests/account-input.js'
import { header } from './headers.js'
import { get, post } from './operation.js'
import { eraseAnswer, usersAnswer } from './user-schemas.js'

/** The operations on the data of users, by path. */
export const USER_OPERATIONS: ZodOpenApiPathsObject = {
  '/v1/users': get({
    id: 'listUsers',
    summary: 'List accounts',
    tag: 'Personal data',
    key: true,
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'The maximum number of accounts on the page.',
        schema: { type: 'integer', minimum: 1, maximum: 1_000, default: 100 },
      },
      {
        name: 'after',
        in: 'query',
        description: '`next` of the page before. Without it, the first page is returned.',
        schema: { type: 'string', maxLength: 1_024 },
      },
    ],
    responses: {
      200: {
        description: 'A page of the accounts of your application, with masked contacts.',
        headers: { 'X-Request-Id': header('RequestId') },
        content: { 'application/json': { schema: usersAnswer } },
      },
    },
    problems: ['invalid_request'],
  }),
  '/v1/users/export': post({
    id: 'exportUser',
    summary: 'Export an account',
    description:
      'Returns everything that is stored about an account, without secrets and codes. The export is recorded in the audit log.',
    tag: 'Personal data',
    body: accountBody,
    answer: accountExport,
    problems: ['not_found'],
  }),
  '/v1/users/erase': post({
    id: 'eraseUser',
    summary: 'Erase an account',
    description:
      'Deletes everything that is stored about an account in one transaction: authenticator app, backup codes, contacts, challenges, messages, counters, and also its lock and failures. The audit log keeps a keyed hash. It can be repeated. A later request with the same `Account` or `User` begins a new account.',
    tag: 'Personal data',
    body: accountBody,
    answer: eraseAnswer,
    problems: [],
  }),
}
