// @ts-check
/* Makes the Countersign pages more convenient. They also work without it. */

const live = document.querySelector('[data-mfa-live]')

/** Aborts everything that is pending on this page when a form is submitted, because another page follows. */
const submission = new AbortController()
document.addEventListener('submit', () => submission.abort())

/** Announces a text to screen readers. @param {string | undefined} text */
function announce(text) {
  if (live && text) live.textContent = text
}

const relative = new Intl.RelativeTimeFormat(document.documentElement.lang || 'en')

/** "in 45 seconds", formatted as on the server. @param {number} seconds */
function inTime(seconds) {
  if (seconds <= 90) return inUnit(seconds, 'second')
  const minutes = Math.ceil(seconds / 60)
  if (minutes <= 90) return inUnit(minutes, 'minute')
  const hours = Math.ceil(minutes / 60)
  return hours <= 36 ? inUnit(hours, 'hour') : inUnit(Math.ceil(hours / 24), 'day')
}

/** Japanese text has no spaces. @param {number} value @param {Intl.RelativeTimeFormatUnit} unit */
function inUnit(value, unit) {
  const words = relative.format(value, unit)
  return document.documentElement.lang === 'ja' ? words.replaceAll(' ', '') : words
}

/** Counts down from the seconds that the server sent, regardless of this device's clock. @param {HTMLElement} line */
function countDown(line) {
  const { mfaLeft, mfaText = '', mfaReady, mfaEnables, mfaLeadsTo, mfaWarns, mfaLate } = line.dataset
  const end = Date.now() + Number(mfaLeft) * 1000
  const button = mfaEnables && document.getElementById(mfaEnables)
  let warnAt = Number(mfaWarns ?? 0)
  if (button instanceof HTMLButtonElement) button.disabled = true

  function tick() {
    const left = Math.ceil((end - Date.now()) / 1000)
    if (left <= 0) return finish()
    const words = mfaText.replace('{in}', () => inTime(left))
    if (line.textContent !== words) line.textContent = words
    if (mfaLate && left <= Number(mfaLate)) line.hidden = false
    if (left <= warnAt) {
      announce(words)
      warnAt = 0
    }
    setTimeout(tick, 1000)
  }

  function finish() {
    if (button instanceof HTMLButtonElement) button.disabled = false
    if (mfaReady) {
      line.hidden = false
      line.textContent = mfaReady
      announce(mfaReady)
    }
    if (mfaLeadsTo) location.replace(mfaLeadsTo)
  }

  tick()
}

/** Polls the delivery state of a message at growing intervals and shows it in the line. @param {HTMLElement} line */
function followMessage(line) {
  const { mfaFollow = '', mfaFactor, mfaState = '' } = line.dataset
  const { signal } = submission
  let requestsLeft = 20
  let waitMs = 3000
  let shown = mfaState
  setTimeout(poll, waitMs)

  async function poll() {
    if (signal.aborted) return
    if (document.hidden) {
      document.addEventListener('visibilitychange', poll, { once: true, signal })
      return
    }
    requestsLeft -= 1
    const delivery = await requestState().catch(() => shown)
    if (signal.aborted) return
    if (delivery !== shown) show(delivery)
    // A sent message may still be delivered, if there is a text for that.
    const isLast = delivery !== 'queued' && !(delivery === 'sent' && templateFor('delivered'))
    if (isLast) return
    waitMs = Math.min(waitMs * 1.5, 15_000)
    if (requestsLeft > 0) setTimeout(poll, waitMs)
  }

  /** @param {string | undefined} delivery */
  function templateFor(delivery) {
    return document.querySelector(`template[data-mfa-when="${delivery}"]`)
  }

  /** Returns `undefined` if the session has another challenge by now. @returns {Promise<string | undefined>} */
  async function requestState() {
    const answer = await fetch(mfaFollow, { headers: { accept: 'application/json' }, signal })
    if (answer.status >= 500) return shown
    const { challenge } = await answer.json()
    return challenge?.factor === mfaFactor ? challenge?.delivery : undefined
  }

  /** @param {string | undefined} delivery */
  function show(delivery) {
    shown = delivery ?? shown
    const words = templateFor(delivery)
    if (words instanceof HTMLTemplateElement) line.replaceChildren(words.content.cloneNode(true))
    if (delivery !== 'refused') return
    const otherFactors = document.querySelector('.mfa-trouble')
    if (otherFactors instanceof HTMLDetailsElement) otherFactors.open = true
    document.querySelector('[data-mfa-tip]')?.remove() // it asks the user to wait
  }
}

/** Removes spaces and dashes from the input and converts full-width digits. @param {string} typed */
function digitsOf(typed) {
  return typed.normalize('NFKC').replace(/[\s\p{Dash}\p{Cf}]+/gu, '')
}

/** Submits the form once when the code is complete. After a correction the user presses the button. @param {HTMLInputElement} input */
function sendWhenComplete(input) {
  const complete = new RegExp(`^\\d{${Number(input.dataset.mfaDigits)}}$`)
  let sent = false
  const send = () => {
    if (sent || !complete.test(digitsOf(input.value))) return
    sent = true
    input.form?.requestSubmit()
  }
  input.addEventListener('input', send)
  const hint = document.createElement('p')
  hint.className = 'mfa-small'
  hint.id = 'mfa-complete'
  hint.textContent = input.dataset.mfaComplete ?? ''
  input.after(hint)
  input.setAttribute('aria-describedby', `${input.getAttribute('aria-describedby')} ${hint.id}`)
  // Typed or filled in before this script ran. After a reload, the browser itself fills in the former code.
  if (isNewPage()) send()
}

/** Whether the user came to this page by a link or a form, and not by a reload or the history. */
function isNewPage() {
  const [navigation] = performance.getEntriesByType('navigation')
  return navigation instanceof PerformanceNavigationTiming && navigation.type === 'navigate'
}

/** Reads the code from the text message if the browser supports it and the user agrees. @param {HTMLInputElement} input */
async function readFromText(input) {
  if (!('OTPCredential' in window)) return
  try {
    const options = /** @type {CredentialRequestOptions} */ ({
      otp: { transport: ['sms'] },
      signal: submission.signal,
    })
    const credential = await navigator.credentials.get(options)
    if (!credential || !('code' in credential) || input.value !== '') return
    input.value = String(credential.code)
    input.dispatchEvent(new Event('input'))
  } catch {
    // No text message came, or the user prefers to enter the code.
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
    announce(mfaCopied)
  })
}

/** @param {HTMLButtonElement} button */
function printOnClick(button) {
  button.hidden = false
  button.addEventListener('click', () => window.print())
}

/** Removes what is shown only once from a page that the browser keeps for its back button. @param {Element} once */
function showOnce(once) {
  window.addEventListener('pagehide', () => once.remove())
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload()
  })
}

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target)
  if (form.ariaBusy === 'true') event.preventDefault()
  form.ariaBusy = 'true'
  // If the navigation is stopped, the form must become usable again.
  setTimeout(() => {
    form.ariaBusy = null
  }, 8000)
})

// Restored from the back-forward cache: the forms can be submitted again. While a page loads, a form may already be submitted.
window.addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return
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
  if ('mfaPrint' in button.dataset) printOnClick(button)
}
for (const once of document.querySelectorAll('[data-mfa-once]')) showOnce(once)

// A right code has just approved this form. The server marks it once, and the browser may keep the marked page.
const approved = document.querySelector('form[data-mfa-send]')
// A field of the host may be called requestSubmit.
if (approved instanceof HTMLFormElement && isNewPage()) HTMLFormElement.prototype.requestSubmit.call(approved)

// The page may answer a form, as when the service failed. Loaded again, it must not post the form again.
const retry = document.querySelector('[data-mfa-retry] a')
if (retry instanceof HTMLAnchorElement) history.replaceState(null, '', retry.href)
