import type { NewUser } from './store/users.js'

/** A user for trying out the app. */
export interface SeedUser extends NewUser {
  /** The secret of the user's authenticator app, in base32. It is public, like the passwords here. */
  readonly appSecret?: string
  /** Whether the user gets backup codes by email. */
  readonly backupCodes: boolean
  /** The ways in which the user signs in, in a few words: second factors and roles. */
  readonly shows: string
}

/** The seed users. Their phone numbers are reserved for fiction (555-0100 to 555-0199), and so is their email domain. */
export const SEED_USERS: readonly SeedUser[] = [
  {
    username: 'alice',
    name: 'Alice',
    password: 'alice-opens-vault',
    email: 'alice@vault.example',
    phone: '+12025550111',
    methods: ['sms', 'email'],
    appSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    backupCodes: true,
    balance: 2480,
    shows: 'authenticator app, text message, email, backup codes; has the help desk',
  },
  {
    username: 'bob',
    name: 'Bob',
    password: 'bob-opens-vault',
    email: 'bob@vault.example',
    phone: '+12025550122',
    methods: ['sms'],
    backupCodes: false,
    balance: 1200,
    shows: 'text message',
  },
  {
    username: 'dora',
    name: 'Dora',
    password: 'dora-opens-vault',
    email: 'dora@vault.example',
    phone: '+12025550133',
    methods: ['dual'],
    backupCodes: false,
    balance: 9100,
    shows: 'the same code by email and text message',
  },
  {
    username: 'mallory',
    name: 'Mallory',
    password: 'mallory-opens-vault',
    email: 'mallory@vault.example',
    phone: '+12025550144',
    methods: ['sms'],
    backupCodes: false,
    balance: 13,
    shows: 'text message (plays the attacker)',
  },
  {
    username: 'nina',
    name: 'Nina',
    password: 'nina-opens-vault',
    email: 'nina@vault.example',
    phone: null,
    methods: [],
    backupCodes: false,
    balance: 640,
    shows: 'no second factor yet',
  },
  {
    username: 'walt',
    name: 'Walt',
    password: 'walt-opens-vault',
    email: 'walt@vault.example',
    phone: '+12025550155',
    methods: ['whatsapp', 'call'],
    backupCodes: false,
    balance: 3300,
    shows: 'WhatsApp, phone call',
  },
  {
    username: 'otto',
    name: 'Otto',
    password: 'otto-opens-vault',
    email: 'otto@vault.example',
    phone: null,
    methods: [],
    appSecret: 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU',
    backupCodes: false,
    balance: 760,
    shows: 'authenticator app only; has the help desk',
  },
  {
    username: 'kim',
    name: 'Kim',
    password: 'kim-opens-vault',
    email: 'kim@vault.example',
    phone: '+12025550166',
    methods: ['sms'],
    backupCodes: false,
    balance: 5150,
    shows: 'text message; as an administrator, must add a passkey (has no help desk)',
  },
]
