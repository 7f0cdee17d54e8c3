const OPERATORS =
  'Operators are told of each other by email address, which is their name in the console and in the audit log.'
const NEW_NUMBER = 'Vault keeps a new phone number in its own session until its code came back.'

/** The tests and files that may show secrets in `npm run canaries`, with the reason: files of tests, and tests, as `<file>: <title without ids>`. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'example-app/test/factor-change-past-a-passkey.test.ts: changes neither the phone number nor the password of one who has a passkey':
    NEW_NUMBER,
  'example-app/test/phone.test.ts': NEW_NUMBER,
  'service/test/attacks/second-self.test.ts': OPERATORS,
  'service/test/console/pages.test.ts: invites, resets and disables operators, and shows each link once':
    OPERATORS,
  'test/client/mfa-client.test.ts: says what a contact is when a request has none':
    'The error shows how to write a contact, with the address that the sample of the documents sends a code to.',
}
