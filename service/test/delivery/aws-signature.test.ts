import { expect, test } from 'vitest'
import { signHeaders } from '../../src/messages/carriers/aws.js'

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const NOW = Date.parse('2015-08-30T12:36:00Z')

// The published test suite of Signature Version 4, and the example in its documentation.
test.each([
  [
    'get-vanilla',
    { method: 'GET', url: 'https://example.amazonaws.com/', headers: {}, body: '' },
    'service',
    '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  ],
  [
    'post-vanilla',
    { method: 'POST', url: 'https://example.amazonaws.com/', headers: {}, body: '' },
    'service',
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      method: 'POST',
      url: 'https://example.amazonaws.com/',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'Param1=value1',
    },
    'service',
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
  [
    'the request ListUsers',
    {
      method: 'GET',
      url: 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08',
      headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
      body: '',
    },
    'iam',
    '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  ],
] as const)('signs %s as AWS publishes it', async (_name, request, service, signature) => {
  const headers = await signHeaders(request, { ...CREDENTIALS, service }, NOW)
  expect(headers.authorization).toMatch(new RegExp(`Signature=${signature}$`))
  expect(headers['x-amz-date']).toBe('20150830T123600Z')
})
