import { createMfa } from 'countersign'

export const mfa = createMfa({
  service: {
    baseUrl: process.env.MFA_BASE_URL,
    apiKey: process.env.MFA_API_KEY,
  },
  appName: 'Staff Shop',
  factors: (user) => [{ method: 'sms', phone: user.phone }],
  login: {
    // What the strategy verified; undefined for every other login.
    evidence: ({ user }) => user.evidence,
    issuers: {
      [process.env.OIDC_ISSUER]: {
        // Ask your provider what it calls a second factor: Entra ID says "mfa" in amr, Keycloak the level in acr.
        amr: { mfa: 'strong' },
        maxAge: '8h',
        stepUpPath: '/login/company',
      },
    },
  },
})
