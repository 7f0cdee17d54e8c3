import type { ProblemCode, SuccessCode } from '../view.js'

/** The English texts, from which the type of a `Catalogue` is derived. */
export const en = {
  dir: 'ltr' as const,
  documentTitle: '{page} – {app}',
  documentTitleError: 'Error: {page} – {app}',
  later: 'later',
  /** For the host's own pages; `{date}` is the day from which a second factor is required. */
  grace: 'Please set up two-step verification by {date}.',
  /** The same where the policy requires a strength: a key, or something stronger than what the user has. */
  graceFor: {
    key: 'Please add a passkey or a security key by {date}.',
    stronger: 'Please add a stronger sign-in option, such as an authenticator app or a passkey, by {date}.',
  },
  /** Why a login that showed a weaker factor, or has none, goes on with setting one up. */
  strongerRequired:
    '{app} requires a stronger sign-in option for your account. Set one up to finish signing in.',
  /** On the factor page and for the host's own pages: the secret of an imported authenticator app is short. */
  weakApp: 'Your authenticator app uses a short key. Set it up again to protect your account better.',
  /** The page on which the user chooses a factor. */
  choose: {
    title: 'Confirm it’s you',
    lead: {
      'sign-in': 'One more step to sign in to {app}. Choose how to confirm it’s you.',
      'step-up': 'This action needs a new confirmation. Choose how to confirm it’s you.',
      recovery: 'First confirm it’s you with an option that you still have. Then your recovery is requested.',
    },
    /** The title where there is one option only: it says what happens next. */
    only: {
      email: 'We will email a code to {to}',
      sms: 'We will text a code to {to}',
      whatsapp: 'We will send a code by WhatsApp to {to}',
      call: 'We will call {to}',
      dual: 'We will send one code by email and text to {to}',
    },
    onlyLead: {
      'sign-in': 'One more step to sign in to {app}.',
      'step-up': 'This action needs a new confirmation.',
    },
    /** Labels of the buttons. */
    act: {
      app: 'Use your authenticator app',
      email: 'Email a code to {to}',
      sms: 'Text a code to {to}',
      whatsapp: 'Send a code by WhatsApp to {to}',
      call: 'Call {to}',
      dual: 'Send one code by email and text to {to}',
      'security-key': 'Use your security key',
      passkey: 'Use your passkey',
    },
    backup: 'Use a backup code',
    backupHint: 'One of the codes you saved',
    /** A link for users who may or may not have backup codes. */
    backupMaybe: 'Do you have a backup code?',
    emailHint: 'Least secure: only as safe as your email account',
    /** For text messages, WhatsApp, calls, and a code sent by both email and text message. */
    phoneHint: 'Less secure than an authenticator app',
    none: 'Your account has no way to confirm it’s you yet. Please contact {app} for help.',
  },
  /** The page on which the user enters a code. */
  code: {
    title: {
      app: 'Enter the code from your app',
      email: 'Check your email',
      sms: 'Check your text messages',
      whatsapp: 'Check WhatsApp',
      call: 'Answer your phone',
      dual: 'Check your email and texts',
      backup: 'Enter a backup code',
    },
    titleFirst: 'Get your code',
    /** The code has expired or has no attempts left. */
    titleNew: 'Get a new code',
    /** A code of an authenticator app that is not accepted: the one of a moment ago looks right. */
    invalidApp: {
      title: 'Wrong or already used code',
      advice: 'Each code works once. Check it, or wait for the next one.',
    },
    sent: {
      email: 'We emailed a verification code to {to}.',
      sms: 'We texted a verification code to {to}.',
      whatsapp: 'We sent a verification code by WhatsApp to {to}.',
      call: 'We are calling {to} to read you a verification code.',
      dual: 'We sent the same verification code by email and text to {to}.',
    },
    queued: 'Your verification code for {to} is waiting to be sent. This can take a minute.',
    delivered: 'Your verification code was delivered to {to}.',
    refused: 'Your verification code could not be delivered to {to}. Try another way below.',
    from: {
      app: 'Open your authenticator app and enter the code it shows for {app}.',
      /** The same where a code of the app was used a moment ago. */
      appNext:
        'You have just used a code. Wait until your authenticator app shows the next one for {app}, and enter that.',
      backup: 'Enter one of the codes you saved. Each code works once.',
    },
    label: 'Verification code',
    labelBackup: 'Backup code',
    /** Below a field that the script submits. */
    complete: 'We continue after the last digit.',
    submit: 'Continue',
    trust: 'Trust this browser for {time}',
    trustHint: 'You won’t be asked for a second step here. Only use this on your own device.',
    expires: 'The code expires {in}.',
    expired: 'The code has expired. Request a new one.',
    again: 'Send the code again',
    callAgain: 'Call again',
    /** Button to start over when a challenge for an authenticator app has no attempts left. */
    restart: 'Try again with a new code',
    againWait: 'You can request the code again {in}.',
    againReady: 'You can request the code again now.',
    trouble: {
      app: 'Can’t use your app?',
      email: 'Didn’t get the code?',
      sms: 'Didn’t get the code?',
      whatsapp: 'Didn’t get the code?',
      call: 'Didn’t get the call?',
      dual: 'Didn’t get the code?',
      backup: 'Don’t have a backup code?',
    },
    tip: {
      app: 'If your codes are rejected, set the clock of your phone to automatic. The codes depend on the time.',
      email: 'Email can take a minute. Check your spam folder too.',
      sms: 'Text messages can take a minute. Check that your phone has a signal.',
      whatsapp: 'Check that your phone is online and that WhatsApp can receive messages.',
      call: 'Check that your phone has a signal and doesn’t block unknown callers.',
      dual: 'Messages can take a minute. Check your spam folder too. Both messages contain the same code.',
      backup: 'You got your backup codes when you requested them. Used codes no longer work.',
    },
    otherFactors: 'Try another way',
    allFactors: 'See all options',
  },
  /** The end of a page: how long the login is pending, and how to leave it. */
  leave: {
    ends: 'This sign‑in expires {in}.',
    cancel: 'Cancel and use another account',
    notNow: 'Not now',
    back: 'Back to {app}',
  },
  /** The pages for enrolling an authenticator app. */
  enroll: {
    title: 'Set up an authenticator app',
    lead: 'An app on your phone creates the codes you sign in with. It works without a signal and is more secure than text messages.',
    replaces: 'It replaces the app you use now. The old app works until you confirm the new one.',
    start: 'Set up an app',
    /** Too many wrong codes, or too long a time: the user starts over. */
    over: {
      exhausted: {
        title: 'Too many wrong codes',
        advice:
          'This QR code no longer works, even with a correct code. Delete the account from your app and start over with a new one.',
      },
      expired: {
        title: 'Your time is up',
        advice: 'This QR code was valid for 15 minutes and no longer works. Start over with a new one.',
      },
    },
    restart: 'Start over',
    /** In a browser that cannot show QR code and key. */
    hidden:
      'The QR code is shown only in the browser in which you started. If you no longer have it, start over.',
    stepOpen: 'Open your authenticator app, or install one first.',
    stepScan: 'Scan this QR code to add an account.',
    stepKey: 'Enter this key to add an account.',
    stepCode: 'Enter the code that the app shows for {app}.',
    qrAlt: 'QR code for your authenticator app',
    samePhone: 'Is the app on this device? Open it here',
    cannotScan: 'Can’t scan the QR code?',
    secret: 'Enter this key in the app instead:',
    secretSettings: 'Type of key: time-based, 6 digits.',
    copy: 'Copy key',
    copied: 'Copied',
    confirm: 'Confirm',
  },
  /** The page after enrolling an authenticator app. */
  enrolled: {
    title: 'Your app is ready',
    lead: 'From now on, you can sign in to {app} with the codes from your app.',
    advice: 'Get backup codes now, so that you can still sign in if you lose your phone.',
    /** For users to whom no backup codes can be sent. */
    adviceAlone:
      'Also add an email address or phone number to your {app} account, so that you can still sign in if you lose your phone.',
    backup: 'Get backup codes',
    done: 'Continue to {app}',
  },
  /** The pages for requesting backup codes. */
  backup: {
    title: 'Get backup codes',
    lead: 'Backup codes let you sign in when you can’t use your other options. Each code works once.',
    to: 'We will send them to {to}.',
    replaces: 'Backup codes you received earlier will stop working.',
    send: 'Send my codes',
    /** For users to whom the codes can be shown. */
    once: 'We show them once, on the next page. Have your password manager or a printer ready.',
    show: 'Show my codes',
    sendInstead: 'Send them to {to} instead',
    sentTitle: 'Backup codes sent',
    sent: 'Your new backup codes are on their way to {to}.',
    count: {
      one: 'There is {count} code, which works once.',
      other: 'There are {count} codes. Each works once.',
    },
    keep: 'Print them or save them in a password manager. Don’t keep them only where you received them.',
  },
  /** The page that shows new backup codes once. */
  backupCodes: {
    title: 'Save your backup codes',
    lead: 'These codes are shown only now. Print them or save them in a password manager before you leave this page.',
    /** The name of the list, for screen readers. */
    list: 'Backup codes',
    copy: 'Copy codes',
    copied: 'Copied',
    print: 'Print',
    download: 'Download',
    /** The first line of the downloaded file. */
    file: 'Backup codes for {app}. Each code works once.',
    saved: 'I saved them',
    goneTitle: 'Your codes were already shown',
    gone: 'Backup codes are shown only once. If you saved them, you don’t need to do anything. If not, create new ones.',
    again: 'Create new codes',
  },
  /** The page after a sign-in with a backup code. */
  codesLeft: {
    /** Few are left. */
    title: 'Few backup codes left',
    /** More than a few are left. */
    used: 'Backup code used',
    left: { one: 'You have {count} backup code left.', other: 'You have {count} backup codes left.' },
    none: 'That was your last backup code.',
    zero: 'You have no backup codes.',
    advice:
      'Get new ones before you need them. Without a backup code, you could lose access to your account when you can’t use your other options.',
  },
  /** The page of a signed-in user: factors, and what can be set up. */
  overview: {
    title: 'Two-step verification',
    lead: 'You can use these options to confirm it’s you when you sign in.',
    none: 'You don’t use two-step verification yet. Set up an authenticator app to protect your account.',
    factors: 'Ways to confirm it’s you',
    method: {
      app: 'Authenticator app',
      email: 'Email',
      sms: 'Text message',
      whatsapp: 'WhatsApp',
      call: 'Phone call',
      dual: 'Email and text message',
      'security-key': 'Security key',
      passkey: 'Passkey',
    },
    enroll: 'Set up an authenticator app',
    replace: 'Replace your authenticator app',
    backup: 'Get new backup codes',
    /** Links to the trusted browsers. */
    browsers: 'See all trusted browsers',
    /** Links to the host's page for one factor; screen readers add its name. */
    change: 'Change',
    /** Links to the host's page for adding a contact. */
    add: 'Add a phone number or email address',
  },
  /** The page before a factor is removed. */
  remove: {
    appTitle: 'Remove your authenticator app?',
    app: 'The codes from your app will no longer work for {app}.',
    codesTitle: 'Remove your backup codes?',
    codes:
      'The codes you saved will no longer work. You can’t use them to sign in to {app} when you can’t use your other options.',
    /** Above the list of the other factors. */
    next: 'When you sign in, you can then use:',
    mailbox: 'A code from your mailbox is then enough to change these settings.',
    phone: 'A code sent to your phone number is then enough to change these settings.',
    password: 'Nothing else protects your account then: anyone who knows your password can sign in.',
    browsers: 'All trusted browsers will be removed, too.',
    cancel: 'Cancel',
  },
  /** On the pages on which the user approves one request: what they approve, and the button that refuses it. */
  approval: {
    lead: 'You confirm exactly this:',
    /** After the code. */
    given: 'You have confirmed exactly this:',
    refuse: 'Refuse: I don’t want this',
    /** The name of a change of the sign-in options, as the user confirms it. */
    change: { app: 'Add an authenticator app', backup_codes: 'Show new backup codes' },
  },
  /** The page on which the user sends an interrupted form again. */
  resume: {
    title: 'Check and send',
    /** The title after an approval. */
    approved: 'It has not been sent yet',
    lead: 'Nothing has been sent yet. Check what you entered, then send it.',
    /** Replaces a value that looks like a secret. */
    hidden: 'not shown here',
    send: 'Send now',
  },
  /** The list of trusted browsers. */
  devices: {
    title: 'Trusted browsers',
    lead: 'You can sign in to {app} in these browsers without a second step. Remove any that you don’t recognize.',
    none: 'You have no trusted browsers. To add one, select the checkbox when you confirm a sign-in.',
    name: '{browser} on {system}',
    unknown: 'Unknown browser',
    current: 'This browser',
    used: 'Last used {when}',
    ends: 'Expires {in}',
    revoke: 'Remove',
    revokeAll: 'Remove all',
  },
  /** The pages behind the "this wasn't me" link of a notice. */
  notMe: {
    title: 'Secure your account',
    lead: 'If someone else used your {app} account, stop them here. Everyone will be signed out, including you, and all trusted browsers will be removed.',
    confirm: 'It wasn’t me: sign everyone out',
    /** For users who opened the link although it was them. */
    otherwise: 'If it was you, close this page. Nothing has been changed.',
    doneTitle: 'Everyone is signed out',
    done: 'All sessions of your {app} account have ended, and all trusted browsers were removed.',
    next: 'Sign in now and change your password. Someone else may know it.',
  },
  /** Account recovery after a waiting period. */
  recovery: {
    /** The link on the pages where the user confirms a sign-in. */
    link: 'Lost access to your app or phone?',
    title: 'Recover your account',
    lead: 'If you can no longer use your safest sign-in option, you can set up a new one after a waiting period of {time}.',
    /** The list of contacts follows. */
    notify:
      'We will tell all these contacts now, and again in the middle of the wait. Each message can cancel the recovery:',
    ends: 'When the waiting period is over, sign in again the way you did today. Your old option then stops working, all other sessions end, and all trusted browsers are removed.',
    request: 'Request recovery',
    /** For users without a weaker factor. */
    impossible:
      'To recover your account here, you need another way to confirm it’s you, and your account has none. Please contact {app} for help.',
    waitingTitle: 'Your recovery is waiting',
    waiting: 'You can set up a new sign-in option {in}. Sign in again then.',
    notified: 'We have told these contacts:',
    unreached: 'We could not reach these contacts, so the wait is twice as long:',
    stop: 'If you sign in with your old option in the meantime, the recovery is canceled.',
    readyTitle: 'Your recovery is ready',
    ready:
      'Set up a new sign-in option now. Your old one then stops working, all other sessions end, and all trusted browsers are removed.',
    complete: 'Set up a new option',
    cancel: 'Cancel the recovery',
    /** The pages behind the link in a notice. */
    cancelTitle: 'Cancel the account recovery?',
    cancelLead:
      'Someone who knows your {app} password asked to replace your safest sign-in option. If it wasn’t you, cancel it here.',
    canceledTitle: 'The recovery is canceled',
    canceled: 'Your {app} account keeps its sign-in options.',
    canceledNext: 'If you didn’t request the recovery, change your password now. Someone else may know it.',
  },
  /** The entry of the bypass code that staff hand over. */
  bypass: {
    title: 'Enter the code from support',
    lead: 'Our support team reset your sign-in options. Enter the code that they gave you. It works once, for one hour. Then set up a new sign-in option.',
    label: 'Code from support',
  },
  /** Security keys and passkeys. */
  keys: {
    /** Below the heading, such as "Use your passkey", above a button that continues. */
    lead: {
      'security-key': 'Continue, then insert your security key or hold it to this device, and touch it.',
      passkey: 'Continue, then confirm with your fingerprint, face or screen lock.',
    },
    /** No attempts are left. */
    exhausted: 'There were too many failed attempts. Try again, or choose another way to confirm it’s you.',
    needsScript:
      'This option needs JavaScript, which is turned off in your browser. Turn it on and load this page again, or choose another option.',
    title: 'Passkeys and security keys',
    listLead:
      'They work only on the real site, so a fake sign-in page can’t use them. Add two, so that you can still sign in if you lose one.',
    none: 'You have no passkeys or security keys yet.',
    /** Before a key is added. */
    browsers: 'When you add one, all trusted browsers are removed.',
    oneDevice: 'One device only',
    synced: 'Synced',
    added: 'Added {when}',
    add: {
      'security-key': 'Add a security key',
      passkey: 'Add a passkey',
    },
    addHint: {
      'security-key': 'A device that you plug in or hold to your phone',
      passkey:
        'On this device, your phone or in your password manager, with a fingerprint, face or screen lock',
    },
    /** Opens the field for the name; screen readers add the name of the key. */
    rename: 'Rename',
    name: 'Name',
    save: 'Save',
    removeTitle: 'Remove “{name}”?',
    remove: 'You can no longer use it to sign in to {app}.',
    /** The consequence when no other key is left. */
    phishing:
      'You then have no passkey or security key left, and a fake sign-in page could trick you into giving away your codes.',
    /** The page after a sign-in with a code. */
    offerTitle: 'Sign in without a code next time',
    offerLead:
      'With a passkey, you confirm it’s you with your fingerprint, face or screen lock. A fake sign-in page can’t use it.',
    failures: {
      cancelled: {
        title: 'Nothing was confirmed',
        advice: 'The request was canceled, took too long, or no matching key was found. Please try again.',
      },
      not_supported: {
        title: 'This doesn’t work in this browser',
        advice:
          'Your browser or device doesn’t support it. Try another browser or device, or choose another option.',
      },
      already_registered: {
        title: 'This key was already added',
        advice: 'It is in your list. Use another key or device to add one.',
      },
      wrong_site: {
        title: 'This is not the right site',
        advice:
          'Passkeys and security keys work only on the site where you added them. Check the address, then go to {app} directly.',
      },
      not_your_key: {
        title: 'This key doesn’t belong to your account',
        advice:
          'It was removed, or you added it to another account. Use another key, or choose another option.',
      },
      not_verified: {
        title: 'Your key didn’t check that it’s you',
        advice: 'Set up a PIN, a fingerprint or a face for it, then try again.',
      },
      not_accepted: {
        title: 'This kind of key isn’t accepted',
        advice: '{app} requires another kind. Please use another key.',
      },
      possibly_copied: {
        title: 'This key may have been copied',
        advice:
          'For your security, it isn’t accepted. Choose another option, then remove this key from your account.',
      },
      expired: {
        title: 'That took too long',
        advice: 'Please try again.',
      },
      failed: {
        title: 'That didn’t work',
        advice: 'We couldn’t accept the response of your key. Please try again.',
      },
      offline: {
        title: 'No connection',
        advice: 'We couldn’t reach {app}. Check your connection and try again.',
      },
    },
  },
  language: 'Language',
  /** The link of a page on which the user cannot continue, by where it leads. */
  stop: {
    'sign-in': 'Sign in',
    retry: 'Try again',
    home: 'Back to {app}',
    'own-account': 'Back to your own account',
  },
  /** The service failed where no code was typed. */
  unavailable: {
    title: 'This page isn’t available right now',
    advice: 'It’s not your fault. Please try again in a few minutes.',
  },
  /** Replaces the countdown of a stop page when it ends. */
  stopReady: 'You can try again now.',
  /** The user is signed in, and the address of the page before the sign-in was too long. */
  pageLost: 'The address of the page that you wanted is too long to be kept. Please open that page again.',
  /** The app code was valid some time ago. */
  clockSlow:
    'This code is from about {time} ago, so the clock of your phone seems to be wrong. Set it to automatic.',
  attemptsLeft: { one: 'You have {count} attempt left.', other: 'You have {count} attempts left.' },
  /** Messages about an action that succeeded, by its code. */
  success: {
    signed_in: 'You are signed in',
    code_sent_again: 'Code sent again.',
    app_removed: 'Your authenticator app was removed.',
    backup_codes_removed: 'Your backup codes were removed.',
    key_added: 'Your key was added.',
    key_saved:
      'Your browser saved a passkey for your account. Use it instead of a code next time, or remove it here.',
    key_renamed: 'The name was changed.',
    key_removed: 'Your key was removed.',
    device_revoked: 'The browser is no longer trusted.',
    devices_revoked: 'All trusted browsers were removed.',
  } satisfies Readonly<Record<SuccessCode, string>>,
  /** Messages about an error, by the code of the problem. */
  problems: {
    sign_in_required: { title: 'Please sign in first', advice: 'You are not signed in to {app}.' },
    pending_login_expired: {
      title: 'Your sign-in took too long',
      advice: 'It was ended for your security. Please sign in again.',
    },
    mfa_required: { title: 'One more step', advice: 'Please confirm it’s you to continue.' },
    step_up_required: {
      title: 'Please confirm again',
      advice: 'Your last confirmation was too long ago for this action.',
    },
    enrollment_required: {
      title: 'Set up two-step verification first',
      advice:
        'This part of {app} is only for accounts with two-step verification, for example with an authenticator app.',
    },
    factors_withheld: {
      title: 'Your sign-in option can’t be used right now',
      advice:
        'It is turned off at the moment, and no other option of yours is accepted here. Please try again later, or ask for help.',
    },
    enrollment_not_allowed: {
      title: 'You can’t set this up here',
      advice:
        'This sign-in did not confirm that it’s you, so you can’t add your first sign-in option. Sign out, and sign in to {app} in another way, or contact {app} for help.',
    },
    enrollment_replaced: {
      title: 'This QR code was replaced',
      advice:
        'A newer one was shown in another browser, and only that one works. Delete this account from your app. Then continue in the other browser, or start over here.',
    },
    stronger_factor_unavailable: {
      title: 'You need a passkey or a security key',
      advice:
        '{app} requires one for your account, and none can be added here. Please contact {app} for help.',
    },
    acting: {
      title: 'You are acting for someone else',
      advice:
        'The sign-in options of this account can’t be used or changed here. Go back to your own account first.',
    },
    other_user: {
      title: 'Another account is signed in here',
      advice: 'Sign out, and sign in with the account that you want to use.',
    },
    approval_ended: {
      title: 'This can no longer be confirmed',
      advice: 'It was confirmed, refused or changed, or it took too long. Go back and start again.',
    },
    details_too_long: {
      title: 'This is too long to confirm',
      advice: 'A text message can’t show all of it. Go back and shorten it.',
    },
    too_many_approvals: {
      title: 'Too many open confirmations',
      advice: 'Answer those that you started, or try again {in}.',
    },
    too_many_logins: {
      title: 'Too many open sign-ins',
      advice: 'Finish one that you started, or try again {in}.',
    },
    session_ended: {
      title: 'Your session has ended',
      advice: 'You signed out or signed in again in the meantime. Please sign in again.',
    },
    invalid_code: { title: 'Wrong code', advice: 'Check the code and try again.' },
    malformed_code: {
      title: 'This code is not complete',
      advice: 'Enter the whole code, as you received it. This did not count as an attempt.',
    },
    invalid_key: {
      title: 'That didn’t work',
      advice: 'Try again, or choose another way to confirm it’s you.',
    },
    unknown_key: { title: 'This key isn’t in the list', advice: 'It may already have been removed.' },
    code_expired: { title: 'The code has expired', advice: 'Request a new one.' },
    no_challenge: { title: 'No code has been sent yet', advice: 'Request a code first.' },
    challenge_exhausted: {
      title: 'Too many wrong codes',
      advice: 'This code no longer works, even if you enter it correctly. Start again with a new one.',
    },
    locked: {
      title: 'Temporarily locked',
      advice: 'Too many wrong codes were entered for your account. You can try again {in}.',
    },
    resend_too_soon: { title: 'You just requested a code', advice: 'You can request it again {in}.' },
    too_many_messages: {
      title: 'Too many codes sent',
      advice: 'Your account has reached its limit for messages. You can request another code {in}.',
    },
    too_many_changes: {
      title: 'Too many changes',
      advice: 'The sign-in options of your account were changed too often. You can change them again {in}.',
    },
    unknown_factor: {
      title: 'This option is not available',
      advice: 'Your account no longer has it. Please choose another option.',
    },
    factor_disabled: {
      title: 'This option is turned off',
      advice: 'It failed too often and must be set up again. Please choose another option.',
    },
    method_off: { title: 'This option is not offered here', advice: 'Please choose another option.' },
    contact_refused: {
      title: 'We can’t reach this address or number',
      advice: 'Please choose another option.',
    },
    phone_at_risk: {
      title: 'We can’t send codes to this number right now',
      advice: 'To protect your account, please choose another option.',
    },
    delivery_failed: {
      title: 'The code could not be delivered',
      advice: 'The phone or email provider rejected the message. Try again, or choose another option.',
    },
    contact_needed: {
      title: 'We have no contact for backup codes',
      advice: 'First add an email address or phone number to your {app} account, then come back.',
    },
    recovery_not_needed: {
      title: 'You don’t need a recovery',
      advice:
        'You have just confirmed it’s you with your safest sign-in option, or have none that is safer. You can change your options directly.',
    },
    no_recovery: {
      title: 'No recovery is pending',
      advice: 'It was canceled, completed or has expired. You can request a new one.',
    },
    recovery_waiting: {
      title: 'Please wait a little longer',
      advice: 'You can set up a new sign-in option {in}.',
    },
    bypass_code_required: {
      title: 'Enter the code from support',
      advice: 'Your sign-in options were reset. Only the code from our support team works now.',
    },
    recovery_not_notified: {
      title: 'We can’t start a recovery right now',
      advice: 'We could not reach any of your contacts, so nothing was started. Please try again later.',
    },
    invalid_request: { title: 'Something is missing', advice: 'Please fill in the form and send it again.' },
    cross_site: {
      title: 'This request came from another site',
      advice: 'For your security, nothing was done. Go back to {app} and try again there.',
    },
    not_found: { title: 'Page not found', advice: 'The address may be outdated or mistyped.' },
    unknown_link: {
      title: 'This link no longer works',
      advice:
        'It was already used or has expired. If you are worried, sign in to {app} and change your password.',
    },
    unknown_device: { title: 'This browser isn’t in the list', advice: 'It may already have been removed.' },
    method_not_allowed: {
      title: 'You can’t open this address directly',
      advice: 'Please go back and use the form on the page.',
    },
    unsupported_media_type: {
      title: 'We could not read the form',
      advice: 'Please use the form on the page.',
    },
    body_too_large: { title: 'The input was too long', advice: 'Please enter only the code.' },
    service_unavailable: {
      title: 'We can’t check codes right now',
      advice: 'It’s not your fault, and it didn’t count as an attempt. Please try again in a few minutes.',
    },
    delivery_unavailable: {
      title: 'We can’t send codes right now',
      advice:
        'It’s not your fault, and it didn’t count as an attempt. Try another way below, or try again in a few minutes.',
    },
    service_misconfigured: {
      title: 'We can’t check codes right now',
      advice:
        'There is a problem with {app} that has to be fixed first. Please report it, or try again later.',
    },
    internal_error: {
      title: 'Something went wrong',
      advice: 'It was our fault. Please try again in a moment.',
    },
  } satisfies Readonly<Record<ProblemCode, object>>,
}
