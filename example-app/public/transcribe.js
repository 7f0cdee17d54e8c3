// Sends the form without leaving the page, and shows how far it has come. XMLHttpRequest, since fetch does not tell
// how much of a body was sent.
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
    tell(`Sent ${Math.floor((loaded / total) * 100)} %`)
  })
  request.upload.addEventListener('load', () => {
    bar.removeAttribute('value')
    tell('Listening…')
  })
  request.addEventListener('load', () => {
    const answer = request.response ?? {}
    if (request.status === 200) show(answer)
    else if (answer.next) location.assign(answer.next)
    else refuse(`${answer.title ?? 'Something went wrong'}. ${answer.detail ?? 'Please try again.'}`)
  })
  request.addEventListener('error', () => refuse('The connection broke. Please try again.'))
  request.addEventListener('loadend', () => {
    progress.hidden = true
    button.disabled = false
  })
  document.querySelector('.notice')?.remove()
  outcome.replaceChildren()
  bar.removeAttribute('value')
  progress.hidden = false
  button.disabled = true
  tell('Sending…')
  request.send(new FormData(form))
})

function tell(text) {
  if (step.textContent !== text) step.textContent = text
}

function show({ text, durationSeconds }) {
  outcome.replaceChildren(element('h2', 'What was said'), element('blockquote', text, 'transcript'))
  if (durationSeconds !== undefined) outcome.append(element('p', `${durationSeconds} seconds`, 'muted'))
}

function refuse(text) {
  outcome.replaceChildren(element('p', text, 'notice error'))
}

function element(name, text, className = '') {
  const made = document.createElement(name)
  made.textContent = text
  made.className = className
  return made
}
