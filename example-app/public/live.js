// Sends speech to the transcription stream of the MFA service while it is being recorded, and shows the text as it comes.
const section = document.querySelector('#live')
const start = document.querySelector('#live-start')
const stop = document.querySelector('#live-stop')
const level = document.querySelector('#live-level')
const step = document.querySelector('#live-step')
const text = document.querySelector('#live-text')
const final = document.querySelector('#live-final')
const partial = document.querySelector('#live-partial')

// Half a minute of speech: with more, the connection is too slow.
const MAX_UNSENT_BYTES = 1_000_000

// Without https, a browser has no microphone, except on this machine.
if (navigator.mediaDevices?.getUserMedia && 'AudioWorkletNode' in window) section.hidden = false

let finish

start.addEventListener('click', async () => {
  start.disabled = true
  final.textContent = ''
  partial.textContent = ''
  text.hidden = true
  step.className = 'muted'
  step.textContent = 'Waiting for the microphone…'
  try {
    await speak()
  } catch (error) {
    showError(explain(error))
  } finally {
    start.disabled = false
    start.hidden = false
    stop.hidden = true
    level.hidden = true
    partial.textContent = ''
  }
})

stop.addEventListener('click', () => finish?.())

async function speak() {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { channelCount: 1 } })
  const audio = new AudioContext()
  try {
    step.textContent = 'Connecting…'
    const [{ ticket, url }] = await Promise.all([
      requestTicket(),
      audio.audioWorklet.addModule('/pcm-worklet.js'),
    ])
    await stream(microphone, audio, streamAddress(url, ticket))
  } finally {
    for (const track of microphone.getTracks()) track.stop()
    await audio.close()
  }
}

function streamAddress(url, ticket) {
  const address = new URL(url, location.href.replace(/^http/, 'ws'))
  address.searchParams.set('ticket', ticket)
  address.searchParams.set('language', 'en')
  return address
}

async function requestTicket() {
  const response = await fetch('/transcribe/ticket', {
    method: 'POST',
    headers: { Accept: 'application/json' },
  })
  const answer = await response.json()
  if (response.ok) return answer
  if (answer.next) location.assign(answer.next)
  throw new Error(`${answer.title ?? 'Something went wrong'}. ${answer.detail ?? 'Please try again.'}`)
}

// Resolves when the service has sent the last words.
function stream(microphone, audio, address) {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(address, 'transcribe.v1')
    const source = audio.createMediaStreamSource(microphone)
    const recorder = new AudioWorkletNode(audio, 'pcm', { numberOfOutputs: 0 })
    let failure
    // What is said before the connection is open.
    const early = []

    finish = () => {
      finish = undefined
      source.disconnect()
      stop.hidden = true
      step.textContent = 'Waiting for the last words…'
      if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"end"}')
      else socket.close()
    }
    recorder.port.onmessage = ({ data: { buffer, peak } }) => {
      level.value = Math.sqrt(peak)
      if (!finish) return
      if (socket.readyState !== WebSocket.OPEN) return void early.push(buffer)
      socket.send(buffer)
      if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
        failure = 'The connection is too slow for speech.'
        socket.close()
      }
    }
    socket.addEventListener('open', () => {
      for (const buffer of early.splice(0)) socket.send(buffer)
    })
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(data)
      if (message.type === 'ready') step.textContent = 'Listening…'
      else if (message.type === 'partial') showPartial(message.text)
      else if (message.type === 'final') showFinal(message.text)
      else failure = 'The service stopped listening. Please try again.'
    })
    socket.addEventListener('close', ({ code, wasClean }) => {
      finish = undefined
      if (code === 1000 && !failure) {
        step.textContent = final.textContent === '' ? 'No words were recognized.' : ''
        resolve()
      } else if (failure) reject(new Error(failure))
      else
        reject(
          new Error(
            wasClean ? 'The stream ended.' : 'The service cannot listen right now. Try again in a moment.',
          ),
        )
    })

    source.connect(recorder)
    start.hidden = true
    stop.hidden = false
    level.hidden = false
    stop.focus()
  })
}

function showPartial(words) {
  text.hidden = false
  partial.textContent = words
}

function showFinal(words) {
  text.hidden = false
  final.append(final.textContent === '' ? words : ` ${words}`)
  partial.textContent = ''
}

function showError(sentence) {
  step.className = 'callout error'
  step.textContent = sentence
}

function explain(error) {
  if (error.name === 'NotAllowedError')
    return 'The microphone is blocked. Allow it in the settings of your browser.'
  if (error.name === 'NotFoundError') return 'No microphone was found.'
  return error.message
}
