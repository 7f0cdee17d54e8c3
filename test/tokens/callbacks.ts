/** The callbacks of the option `tokens`, each of which failing-callbacks.test.ts has fail. */
export const TOKEN_CALLBACKS = ['findUser', 'issue', 'claims', 'authenticate', 'onEnded'] as const
