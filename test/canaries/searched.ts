/**
 * The tests that `npm run canaries` runs: those that use the plugin and the service in the process of the test, as apps and clients
 * do. Left out are tests that start processes or browsers, whose output they read themselves; tests of single functions; and those of
 * speech to text, the command line, options and documents, which handle no secret of a user.
 */
export const SEARCHED = [
  'test/approvals/*.test.ts',
  'test/assurance/*.test.ts',
  'test/attacks/*.test.ts',
  'test/canaries/*.test.ts',
  'test/contract/*.test.ts',
  'test/flows/*.test.ts',
  'test/guard/*.test.ts',
  'test/keys/*.test.ts',
  'test/notices/*.test.ts',
  'test/passport/*.test.ts',
  'test/recovery/*.test.ts',
  'test/routers/*.test.ts',
  'test/session/*.test.ts',
  'test/trust/*.test.ts',
  'service/test/attacks/*.test.ts',
  'service/test/console/*.test.ts',
  'service/test/delivery/*.test.ts',
  'service/test/events/*.test.ts',
  'service/test/http.test.ts',
  'service/test/messages.test.ts',
  'service/test/verbs.test.ts',
]
