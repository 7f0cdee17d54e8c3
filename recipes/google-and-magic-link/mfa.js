import { createMfa } from 'countersign'

export const mfa = createMfa({
  service: {
    baseUrl: process.env.MFA_BASE_URL,
    apiKey: process.env.MFA_API_KEY,
  },
  appName: 'Link Shop',
  // A code to the mailbox proves nothing more after a link to the same mailbox, so the second factor is the phone.
  factors: (user) => [{ method: 'sms', phone: user.phone }],
})
