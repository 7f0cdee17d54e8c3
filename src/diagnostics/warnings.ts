/** What the doctor can find, each with what to do about it. `docs/diagnostics.md` has a heading for each. */
export const WARNINGS = {
  MFA_WARN_MEMORY_COUNTERS:
    'Wrong codes and messages are counted in the memory of this process, where counts are lost at a restart and multiply with the number of processes: give limits.store { redis } or { postgres }.',
  MFA_WARN_SEPARATE_COUNTERS:
    'Several processes seem to serve this app, and each counts wrong codes and messages for itself: give limits.store { redis } or { postgres }, so that they count together.',
  MFA_WARN_MEMORY_SESSIONS:
    'Sessions are kept in the memory of this process, which loses them at a restart and grows without end: give express-session a store, such as connect-redis or connect-pg-simple.',
  MFA_WARN_TRUST_PROXY:
    "Requests come through a proxy that Express was not told about, so it sees neither https nor the browser's address: app.set('trust proxy', 1), or the proxy's own address.",
  MFA_WARN_PATH_PREFIX:
    'A proxy says that it takes a part off each path (X-Forwarded-Prefix), which the option path does not begin with, so the pages would lead elsewhere: give pathPrefix, and path with it.',
  MFA_WARN_COOKIE_SECURE:
    'The session cookie also travels over plain http, where it can be read: give express-session cookie: { secure: true }.',
  MFA_WARN_COOKIE_HTTP_ONLY:
    'Scripts on the page can read the session cookie: leave cookie.httpOnly of express-session at true.',
  MFA_WARN_COOKIE_SAME_SITE:
    "Other sites can send requests with the session cookie: give express-session cookie: { sameSite: 'lax' }.",
  MFA_WARN_RESAVE:
    'Every request writes its session back, also one that was ended meanwhile by a logout: give express-session resave: false.',
  MFA_WARN_SAVE_UNINITIALIZED:
    'A session is stored for everybody who looks at a page: give express-session saveUninitialized: false.',
  MFA_WARN_BODY_PARSER:
    "A body of more than 100 KB was parsed before the routers could refuse it: mount mfaRouter before the app's body parser, or give that parser a smaller limit.",
  MFA_WARN_RESUME_UNPARSED:
    'A form that requireMfa stopped could not be kept, as it was not parsed yet: mount express.urlencoded() before requireMfa({ resume }).',
  MFA_WARN_ROUTES_BEFORE_GATE:
    'Routes stand between passport.session() and mfaSession, where somebody without the second factor counts as signed in: mount mfaSession right behind passport.session().',
  MFA_WARN_MEMORY_DEVICES:
    'Trusted devices are kept in the memory of this process, which forgets them at a restart and shares them with no other: give trustedDevices.store { redis } or { postgres }.',
  MFA_WARN_TRUST_OUTLIVES_PASSWORD:
    'Browsers stay trusted after a new password: give trustedDevices.fingerprint, or call mfaAccount(options).revokeDevices(user) with each new password and leave this finding out by diagnostics.ignore.',
  MFA_WARN_PLAIN_HTTP:
    'The MFA service is reached over plain http, so the API key and every code travel readable: give service.baseUrl an https address.',
  MFA_WARN_KEY_REFUSED:
    'The MFA service does not accept the API key, so nobody can pass a second factor: check service.apiKey (MFA_API_KEY) and that it was not revoked.',
} as const

/** Names a finding in the log, in events and in the option `diagnostics`. */
export type WarningCode = keyof typeof WARNINGS

/** Every code. */
export const WARNING_CODES = Object.keys(WARNINGS) as readonly WarningCode[]
