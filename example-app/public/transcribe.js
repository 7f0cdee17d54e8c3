// Sends the form without leaving the page, and shows the progress of the upload and of the transcription. It uses
// XMLHttpRequest, because fetch does not report the progress of an upload.
const form = document.querySelector('#recording')
const progress = document.querySelector('#progress')
const bar = progress.querySelector('progress')
const step = document.querySelector('#step')
const outcome = document.querySelector('#outcome')
const button = form.querySelector('button')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const request = new XMLHttpRequest()
  const events = eventReader({
    progress: showProgress(),
    transcript: showTranscript,
    problem: showProblem,
  })
  request.open('POST', form.action)
  request.setRequestHeader('Accept', 'text/event-stream, application/json;q=0.9')
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.max = total
    bar.value = loaded
    setStep(`Sent ${Math.floor((loaded / total) * 100)} %`)
  })
  request.upload.addEventListener('load', () => {
    bar.removeAttribute('value')
    setStep('Transcribing…')
  })
  request.addEventListener('progress', () => isEvents(request) && events.read(request.responseText))
  request.addEventListener('load', () => {
    if (!isEvents(request)) return showAnswer(request)
    events.read(request.responseText)
    if (!events.isComplete()) showError('The connection was lost. Please try again.')
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

function isEvents(request) {
  return (request.getResponseHeader('Content-Type') ?? '').startsWith('text/event-stream')
}

// Reads server-sent events from a response that grows.
function eventReader(handlers) {
  let position = 0
  let isComplete = false
  return {
    isComplete: () => isComplete,
    read(text) {
      for (let end = text.indexOf('\n\n', position); end >= 0; end = text.indexOf('\n\n', position)) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(position, end)) ?? []
        position = end + 2
        isComplete = name !== 'progress'
        handlers[name]?.(JSON.parse(data))
      }
    },
  }
}

// What the browser gets when the recording was refused before it was transcribed.
function showAnswer(request) {
  let answer = {}
  try {
    answer = JSON.parse(request.responseText)
  } catch {
    // Not from this app: the problem below says that something went wrong.
  }
  if (request.status === 200) showTranscript(answer)
  else if (answer.next) location.assign(answer.next)
  else showProblem(answer)
}

function setStep(text) {
  if (step.textContent !== text) step.textContent = text
}

function showProgress() {
  const words = element('blockquote', '', 'transcript unfinished')
  return ({ seconds, durationSeconds, text }) => {
    if (!durationSeconds || !seconds) return
    bar.max = durationSeconds
    bar.value = seconds
    setStep(`Transcribed ${clock(seconds)} of ${clock(durationSeconds)}`)
    if (!text) return
    words.textContent = `${words.textContent} ${text}`.trim()
    outcome.replaceChildren(words)
  }
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`
}

function showTranscript({ text, durationSeconds }) {
  const words =
    text === ''
      ? element('p', 'No words were recognized. The recording must contain English speech.')
      : element('blockquote', text, 'transcript')
  outcome.replaceChildren(element('h2', 'Transcript'), words)
  if (durationSeconds !== undefined) outcome.append(element('p', `${durationSeconds} seconds`, 'muted'))
}

function showProblem({ title, detail }) {
  showError(`${title ?? 'Something went wrong'}. ${detail ?? 'Please try again.'}`)
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
