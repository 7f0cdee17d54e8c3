// @ts-check
/* Makes the Countersign pages more comfortable. Everything on them works without it. */

const live = document.querySelector('[data-mfa-live]')

/** Ends what waits on this page as soon as a form of it is sent, whichever: another page follows. */
const leaving = new AbortController()
document.addEventListener('submit', () => leaving.abort())

/** Tells screen readers, once and politely. @param {string | undefined} text */
function tell(text) {
  if (live && text) live.textContent = text
}

const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || 'en')

/** "in 45 seconds", worded like the server does it. @param {number} seconds */
function inTime(seconds) {
  if (seconds <= 90) return relative.format(seconds, 'second')
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= 90) return relative.format(minutes, 'minute')
  const hours = Math.ceil(minutes / 60)
  return hours <= 36 ? relative.format(hours, 'hour') : relative.format(Math.ceil(hours / 24), 'day')
}

/** Counts a line down from the seconds the server told, whatever this device's clock says. @param {HTMLElement} line */
function countDown(line) {
  const { mfaLeft, mfaText = '', mfaReady, mfaEnables, mfaLeadsTo, mfaWarns } = line.dataset
  const end = Date.now() + Number(mfaLeft) * 1000
  const button = mfaEnables && document.getElementById(mfaEnables)
  let warnAt = Number(mfaWarns ?? 0)
  if (button instanceof HTMLButtonElement) button.disabled = true

  function tick() {
    const left = Math.ceil((end - Date.now()) / 1000)
    if (left <= 0) return finish()
    const words = mfaText.replace('{in}', () => inTime(left))
    if (line.textContent !== words) line.textContent = words
    if (left <= warnAt) {
      tell(words)
      warnAt = 0
    }
    setTimeout(tick, 1000)
  }

  function finish() {
    if (button instanceof HTMLButtonElement) button.disabled = false
    if (mfaReady) {
      line.textContent = mfaReady
      tell(mfaReady)
    }
    if (mfaLeadsTo) location.replace(mfaLeadsTo)
  }

  tick()
}

/** Asks what became of a message that had not left yet, ever less often, and says so in its line. @param {HTMLElement} line */
function followMessage(line) {
  const { mfaFollow = '', mfaFactor } = line.dataset
  const { signal } = leaving
  let questions = 20
  let waitMs = 3000
  setTimeout(ask, waitMs)

  async function ask() {
    if (signal.aborted) return
    if (document.hidden) {
      document.addEventListener('visibilitychange', ask, { once: true, signal })
      return
    }
    questions -= 1
    const delivery = await askOnce().catch(() => 'queued')
    if (delivery === 'queued') {
      waitMs = Math.min(waitMs * 1.5, 15_000)
      if (questions > 0) setTimeout(ask, waitMs)
    } else if (!signal.aborted) show(delivery)
  }

  /** Nothing when the session has moved on. @returns {Promise<string | undefined>} */
  async function askOnce() {
    const answer = await fetch(mfaFollow, { headers: { accept: 'application/json' }, signal })
    if (answer.status >= 500) return 'queued'
    const { challenge } = await answer.json()
    return challenge?.factor === mfaFactor ? challenge?.delivery : undefined
  }

  /** @param {string | undefined} delivery */
  function show(delivery) {
    const words = document.querySelector(`template[data-mfa-when="${delivery}"]`)
    if (words instanceof HTMLTemplateElement) line.replaceChildren(words.content.cloneNode(true))
    if (delivery !== 'refused') return
    const otherWays = document.querySelector('.mfa-trouble')
    if (otherWays instanceof HTMLDetailsElement) otherWays.open = true
    document.querySelector('[data-mfa-tip]')?.remove() // to be patient
  }
}

/** The digits of what was typed, without spaces and dashes, full-width ones made plain. @param {string} typed */
function digitsOf(typed) {
  return typed.normalize('NFKC').replace(/[\s\p{Dash}\p{Cf}]+/gu, '')
}

/** Sends the form as soon as the code is complete, once: who corrects a code presses the button. @param {HTMLInputElement} input */
function sendWhenComplete(input) {
  const complete = new RegExp(`^\\d{${Number(input.dataset.mfaDigits)}}$`)
  let sent = false
  input.addEventListener('input', () => {
    if (sent || !complete.test(digitsOf(input.value))) return
    sent = true
    input.form?.requestSubmit()
  })
}

/** Reads the code from the text message where the browser can and the person agrees. @param {HTMLInputElement} input */
async function readFromText(input) {
  if (!('OTPCredential' in window)) return
  try {
    const wish = /** @type {CredentialRequestOptions} */ ({
      otp: { transport: ['sms'] },
      signal: leaving.signal,
    })
    const credential = await navigator.credentials.get(wish)
    if (!credential || !('code' in credential) || input.value !== '') return
    input.value = String(credential.code)
    input.dispatchEvent(new Event('input'))
  } catch {
    // No text came, or the person would rather type.
  }
}

/** @param {HTMLButtonElement} button */
function copyOnClick(button) {
  if (!navigator.clipboard) return
  button.hidden = false
  button.addEventListener('click', async () => {
    const { mfaCopy = '', mfaCopied = '' } = button.dataset
    try {
      await navigator.clipboard.writeText(mfaCopy)
    } catch {
      return
    }
    button.textContent = mfaCopied
    tell(mfaCopied)
  })
}

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (form.ariaBusy === 'true') event.preventDefault()
  form.ariaBusy = 'true'
  // A navigation that was stopped leaves the page as it is.
  setTimeout(() => {
    form.ariaBusy = null
  }, 8000)
})

// Back to a page that the browser kept: its forms can be sent again.
window.addEventListener('pageshow', () => {
  for (const form of document.forms) form.ariaBusy = null
})

for (const line of document.querySelectorAll('[data-mfa-left]')) {
  if (line instanceof HTMLElement) countDown(line)
}
for (const line of document.querySelectorAll('[data-mfa-follow]')) {
  if (line instanceof HTMLElement) followMessage(line)
}
for (const input of document.querySelectorAll('input')) {
  if (Number(input.dataset.mfaDigits) > 0) sendWhenComplete(input)
  if ('mfaWebOtp' in input.dataset) readFromText(input)
}
for (const button of document.querySelectorAll('button')) {
  if ('mfaCopy' in button.dataset) copyOnClick(button)
}
