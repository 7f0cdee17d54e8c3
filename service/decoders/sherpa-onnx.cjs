/*
 * Transcribes a WAV file (16 kHz, mono, 16 bits) with sherpa-onnx: node sherpa-onnx.cjs <folder> <file> [language]
 * The folder is that of deploy/install-sherpa-onnx.sh. Prints one line of JSON for each part of the speech.
 */
const { createReadStream, readdirSync } = require('node:fs')
const { createRequire } = require('node:module')
const { join } = require('node:path')

const SAMPLE_RATE = 16_000
const WAV_HEADER_BYTES = 44
/** The window of the voice detector. */
const WINDOW = 512
/** Longer parts are cut: Whisper hears 30 seconds at a time. */
const MAX_SPEECH_SECONDS = 25

const [folder, file, language = ''] = process.argv.slice(2)
const { OfflineRecognizer, Vad } = createRequire(join(folder, 'package.json'))('sherpa-onnx-node')

/** The file of the model whose name contains `part`; of several, the one with small numbers. */
function modelFile(part) {
  const found = readdirSync(join(folder, 'model')).filter((name) => name.includes(part))
  const name = found.find((each) => each.includes('int8')) ?? found[0]
  return name && join(folder, 'model', name)
}

function modelConfig() {
  const common = { tokens: modelFile('tokens'), numThreads: 1, provider: 'cpu', debug: 0 }
  const encoder = modelFile('encoder')
  const decoder = modelFile('decoder')
  const joiner = modelFile('joiner')
  if (joiner) return { ...common, transducer: { encoder, decoder, joiner }, modelType: 'nemo_transducer' }
  if (encoder) return { ...common, whisper: { encoder, decoder, language, task: 'transcribe' } }
  return { ...common, nemoCtc: { model: modelFile('model') } }
}

const recognizer = new OfflineRecognizer({
  featConfig: { sampleRate: SAMPLE_RATE, featureDim: 80 },
  modelConfig: modelConfig(),
})
const detector = new Vad(
  {
    sileroVad: {
      model: join(folder, 'silero_vad.onnx'),
      threshold: 0.5,
      minSpeechDuration: 0.25,
      minSilenceDuration: 0.5,
      maxSpeechDuration: MAX_SPEECH_SECONDS,
      windowSize: WINDOW,
    },
    sampleRate: SAMPLE_RATE,
    numThreads: 1,
    debug: 0,
  },
  2 * MAX_SPEECH_SECONDS,
)

function printSpeech() {
  for (; !detector.isEmpty(); detector.pop()) {
    // A copy: newer releases of Node allow no memory of others in their buffers.
    const { start, samples } = detector.front(false)
    const stream = recognizer.createStream()
    stream.acceptWaveform({ sampleRate: SAMPLE_RATE, samples })
    recognizer.decode(stream)
    const text = recognizer.getResult(stream).text.trim()
    const times = { start: start / SAMPLE_RATE, end: (start + samples.length) / SAMPLE_RATE }
    if (text) process.stdout.write(`${JSON.stringify({ ...times, text })}\n`)
  }
}

async function transcribe() {
  let rest = Buffer.alloc(0)
  for await (const chunk of createReadStream(file, { start: WAV_HEADER_BYTES })) {
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % (2 * WINDOW))
    for (let at = 0; at < whole; at += 2 * WINDOW) {
      const samples = new Float32Array(WINDOW)
      for (let i = 0; i < WINDOW; i++) samples[i] = bytes.readInt16LE(at + 2 * i) / 32_768
      detector.acceptWaveform(samples)
      printSpeech()
    }
    rest = bytes.subarray(whole)
  }
  detector.flush()
  printSpeech()
}

transcribe().catch((error) => {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
})
