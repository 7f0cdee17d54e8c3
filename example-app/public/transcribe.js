// Sends the form without leaving the page, and shows the progress. It uses XMLHttpRequest, because fetch does not report
// the progress of an upload.
const form = document.querySelector('#recording')
const progress = document.querySelector('#progress')
const bar = progress.querySelector('progress')
const step = document.querySelector('#step')
const outcome = document.querySelector('#outcome')
const button = form.querySelector('button')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const request = new XMLHttpRequest()
  request.open('POST', form.action)
  request.setRequestHeader('Accept', 'application/json')
  request.responseType = 'json'
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total
    bar.value = loaded
    setStep(`Sent ${Math.floor((loaded / total) * 100)} %`)
  })
  request.upload.addEventListener('load', () => {
    bar.removeAttribute('value')
    setStep('Transcribing…')
  })
  request.addEventListener('load', () => {
    const answer = request.response ?? {}
    if (request.status === 200) showTranscript(answer)
    else if (answer.next) location.assign(answer.next)
    else showError(`${answer.title ?? 'Something went wrong'}. ${answer.detail ?? 'Please try again.'}`)
  })
  request.addEventListener('error', () => showError('The connection was lost. Please try again.'))
  request.addEventListener('loadend', () => {
    progress.hidden = true
    button.disabled = false
  })
  document.querySelector('.callout')?.remove()
  outcome.replaceChildren()
  bar.removeAttribute('value')
  progress.hidden = false
  button.disabled = true
  setStep('Sending…')
  request.send(new FormData(form))
})

function setStep(text) {
  if (step.textContent !== text) step.textContent = text
}

function showTranscript({ text, durationSeconds }) {
  const words =
    text === ''
      ? element('p', 'No words were recognized. The recording must contain English speech.')
      : element('blockquote', text, 'transcript')
  outcome.replaceChildren(element('h2', 'Transcript'), words)
  if (durationSeconds !== undefined) outcome.append(element('p', `${durationSeconds} seconds`, 'muted'))
}

function showError(text) {
  outcome.replaceChildren(element('p', text, 'callout error'))
}

function element(name, text, className = '') {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}
