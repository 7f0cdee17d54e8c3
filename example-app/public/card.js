// Shows the number of the card. The app answers only after a fresh second factor, which `withStepUp` asks for in a pop-up.
import { withStepUp } from '/browser.js'

const fetchWithStepUp = withStepUp()
const button = document.querySelector('#show-card')
const message = document.querySelector('#card-message')

const NOT_SHOWN = {
  canceled: 'You canceled.',
  expired: 'Your session ended. Please sign in again.',
  failed: 'You could not be verified. Please try again later.',
  blocked: 'Allow pop-ups for this page, and try again.',
}

button.hidden = false
button.addEventListener('click', async () => {
  message.textContent = ''
  try {
    const response = await fetchWithStepUp('/vault/card', {
      method: 'POST',
      headers: { accept: 'application/json' },
    })
    const { number, detail, title } = await response.json()
    if (response.ok) document.querySelector('#card').textContent = number
    else message.textContent = detail ?? title
  } catch (error) {
    message.textContent = NOT_SHOWN[error.reason] ?? 'Something went wrong. Please try again.'
  }
})
