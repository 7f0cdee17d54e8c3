/** Every warning: what is configured insecurely, and what to do. `docs/diagnostics.md` has a section for each. */
export const WARNINGS = {
  MFA_WARN_MEMORY_COUNTERS:
    'Wrong codes and messages are counted in the memory of this process, which forgets them at a restart and does not share them. Set limits.store to { redis } or { postgres }.',
  MFA_WARN_SEPARATE_COUNTERS:
    'This app seems to run in several processes, and each one counts wrong codes and messages separately. Set limits.store to { redis } or { postgres }.',
  MFA_WARN_MEMORY_SESSIONS:
    'Sessions are stored in the memory of this process, which loses them at a restart and never frees it. Give express-session a store, such as connect-redis or connect-pg-simple.',
  MFA_WARN_TRUST_PROXY:
    "Requests come through a proxy that Express does not trust, so Express sees neither https nor the browser's address. Set app.set('trust proxy', 1), or the address of the proxy.",
  MFA_WARN_PATH_PREFIX:
    'A proxy removes a prefix from each path (X-Forwarded-Prefix), but urls.path does not begin with it, so links on the pages are wrong. Set urls.pathPrefix to the prefix, and let urls.path begin with it.',
  MFA_WARN_COOKIE_SECURE:
    'The session cookie is also sent over plain http, where others can read it. Set cookie: { secure: true } in express-session.',
  MFA_WARN_COOKIE_NOT_SENT:
    "A user signed in over plain http, and the session cookie is for https only, so the browser stays signed out. Open the app over https, set app.set('trust proxy', 1) behind a proxy, or on your own machine set cookie: { secure: 'auto' } in express-session.",
  MFA_WARN_STORE_LOSES:
    'A store does not return what it was given, so wrong codes are not counted, or sessions and links are lost. Check the functions of the store.',
  MFA_WARN_COOKIE_HTTP_ONLY:
    'Scripts on the page can read the session cookie. Leave cookie.httpOnly of express-session at true.',
  MFA_WARN_COOKIE_SAME_SITE:
    "Other sites can send requests with the session cookie. Set cookie: { sameSite: 'lax' } in express-session.",
  MFA_WARN_SESSION_RESAVE:
    'express-session also saves unchanged sessions, and so one that ended while a request was under way. The package prevents that as far as the session store allows. Set resave: false in express-session.',
  MFA_WARN_BODY_PARSER:
    "A body of more than 100 KB was parsed before the routers could refuse it. Mount mfa.router before the app's body parser, or lower the limit of that parser.",
  MFA_WARN_RESUME_UNPARSED:
    'A form that requireMfa blocked could not be kept, because its body was not parsed. Mount express.urlencoded() before requireMfa({ resume }); a form of the type multipart/form-data needs another parser, such as multer().none().',
  MFA_WARN_DETAILS_TOO_LONG:
    'A user could not approve a request, because what requireMfa({ bind }) names does not fit into a text message and the user has no other factor. Refuse longer values in a form, or return shorter lines from bindText.',
  MFA_WARN_PASSPORT_INSTANCE:
    'The gate does not know the instance of Passport, so a WebSocket server or a route before the gate takes the user of a pending login for signed in. Mount passport.initialize() of that instance before passport.session().',
  MFA_WARN_GATE_AT_PATH:
    'The gate is mounted at a path, so requests to other paths do not pass it. Unless all routes of the app are below that path, mount it without one: app.use(mfa.router), or app.use(mfa.session).',
  MFA_WARN_NO_ROUTER:
    'A pending login was sent to urls.path, and nothing answered there. Mount app.use(mfa.router) without a path, or at that path.',
  MFA_WARN_USER_BESIDE_PASSPORT:
    'The session names a user (such as session.userId), but Passport knows none, so no user is asked for a second factor. Sign users in with req.logIn: see recipes/without-passport in the repository.',
  MFA_WARN_MEMORY_DEVICES:
    'Trusted devices are stored in the memory of this process, which loses them at a restart and does not share them. Set trustedDevices.store to { redis } or { postgres }.',
  MFA_WARN_MEMORY_RECOVERIES:
    'Account recoveries are stored in the memory of this process, which loses them at a restart and does not share them. Set recovery.store to { redis } or { postgres }.',
  MFA_WARN_MEMORY_LINKS:
    'The links in notices, and the times at which the sessions of users ended, are stored in the memory of this process. After a restart and in other processes, ended sessions are valid again. Set notices.store to { redis } or { postgres }.',
  MFA_WARN_REDIS_EVICTS:
    'The Redis server removes keys when its memory is full, which gives attempts back and lifts locks. Set its maxmemory-policy to noeviction.',
  MFA_WARN_REDIS_POLICY_UNKNOWN:
    'The Redis server does not tell whether it removes keys when its memory is full, which would give attempts back and lift locks. Allow INFO to the user of the client, or set maxmemory-policy to noeviction and add this code to diagnostics.ignore.',
  MFA_WARN_TRUST_OUTLIVES_PASSWORD:
    'Browsers stay trusted after the user changes the password. Set trustedDevices.fingerprint, or call mfa.account.revokeDevices(user) after each change and add this code to diagnostics.ignore.',
  MFA_WARN_PLAIN_HTTP:
    'The MFA service is called over plain http, so others can read the API key and every code. Set service.baseUrl to an https address.',
  MFA_WARN_APP_CONTACT:
    'Two users have the same contact for their authenticator apps, perhaps in another spelling, so the app of one would replace that of the other. Let appContact return a verified contact that no other user has.',
  MFA_WARN_FACTOR_CHANGE:
    'The app changed a factor (account.factorAdded, account.factorRemoved) of a user whose session had not just shown the strongest one, so an attacker with a weaker factor could do the same. Put mfa.requireStrongest() before the route.',
  MFA_WARN_APPROVED_BY:
    'The app names the second approver of a reset itself (approvedBy of account.reset), so one member of staff, or an attacker in their session, could name anyone. Have them call account.requestReset and account.approveReset, each in their own session.',
  MFA_WARN_FACTORS_CONTRADICTED:
    'The MFA service says that a user lacks a factor which recordedFactors has, so that factor counts and cannot be used. Check whether the service was restored from a backup, and whether service.apiKey (MFA_API_KEY) is that of another application. Events of the type factors_contradicted name the users. If the service is right, clear their records, so that recordedFactors returns undefined.',
  MFA_WARN_CONTACT_UNUSABLE:
    'The option factors lists a contact that cannot be used, so that factor is withheld, and its user signs in with another one or has to recover the account. Events of the type contact_unusable name the users. Correct the contact, or leave the factor out.',
  MFA_WARN_NO_REFERRER:
    'A form came with the header "Origin: null", so it counts as one of another site. Over plain http, browsers send that for pages with "Referrer-Policy: no-referrer", which helmet() sets. Use helmet({ referrerPolicy: { policy: "same-origin" } }), or https.',
  MFA_WARN_RETURN_TOO_LONG:
    'The address of a page has more than 4,096 characters, so users whom it asks for a factor do not return to it, and a page says so. Send such a request by POST, or by a reference (OAuth: request_uri or PAR).',
  MFA_WARN_EVIDENCE:
    'login.evidence returned something that cannot count, so users are asked for a second factor. Return { issuer, amr, acr, authTime } from verified claims, with auth_time in seconds, and list the issuer in login.issuers.',
  MFA_WARN_DIALECT:
    "The MFA service is the Countersign service, but service.dialect does not use its additions, so a code of one sign-in can be used in another. Remove service.dialect, or set it to 'countersign'.",
  MFA_WARN_SERVICE_NOT_RECOGNIZED:
    "What answers at service.baseUrl has not identified itself as the Countersign service, so no code is sent or checked. Check service.baseUrl, and whether a proxy or a sign-in page of the network answers there. Only if the service speaks the published API, set service.dialect to 'published' (MFA_DIALECT).",
  MFA_WARN_KEY_REFUSED:
    'The MFA service does not accept the API key, so no user can pass the second factor. Check service.apiKey (MFA_API_KEY), that the key was not revoked and has not expired, and its scopes.',
  MFA_WARN_KEY_SCOPES:
    'The API key lacks scopes that signing users in needs, so the MFA service refuses some calls. Create a key with verify, enroll and read: countersign-service key create.',
  MFA_WARN_KEY_RELYING_PARTY:
    "The relying party's id of the MFA service is not the host of this app or a domain above it, so browsers refuse security keys and passkeys. Set its id and origins in the service to the host that browsers see, or add the origin of the app to the related origins.",
  MFA_WARN_KEY_IP_ADDRESS:
    'The app was opened at an IP address, for which browsers accept no security keys and passkeys. Open it at its domain, or on this machine at http://localhost, and use the same in the origins of the relying party.',
  MFA_WARN_KEY_PERMISSIONS_POLICY:
    'The Permissions-Policy of the app forbids publickey-credentials-get or publickey-credentials-create, so browsers refuse security keys and passkeys. Allow both for self.',
  MFA_WARN_APP_NAME:
    'The pages and the MFA service call the app by different names, so a user may distrust the messages. Set appName to the name that the service uses (SERVICE_APPLICATION_NAME), or change that name.',
} as const

/** The code of a warning, in the log, in events and in the option `diagnostics.ignore`. */
export type WarningCode = keyof typeof WARNINGS

/** Every code. */
export const WARNING_CODES = Object.keys(WARNINGS) as readonly WarningCode[]
