// Runs in the audio thread: converts what the microphone records to PCM with 16,000 samples per second and 16 bits, in blocks of
// 100 ms, and measures its level.
const RATE = 16_000
const BLOCK_SAMPLES = 1_600

class PcmProcessor extends AudioWorkletProcessor {
  #block = new Int16Array(BLOCK_SAMPLES)
  #filled = 0
  #peak = 0
  // The sum and the number of the recorded samples that the next sample is the mean of, and how much of it has passed.
  #sum = 0
  #count = 0
  #passed = 0

  process([input]) {
    for (const sample of input[0] ?? []) {
      this.#sum += sample
      this.#count += 1
      this.#passed += RATE / sampleRate
      while (this.#passed >= 1) {
        this.#passed -= 1
        this.#add(this.#count > 0 ? this.#sum / this.#count : sample)
        this.#sum = 0
        this.#count = 0
      }
    }
    return true
  }

  #add(sample) {
    const limited = Math.max(-1, Math.min(1, sample))
    this.#peak = Math.max(this.#peak, Math.abs(limited))
    this.#block[this.#filled] = Math.round(limited * 32_767)
    this.#filled += 1
    if (this.#filled < BLOCK_SAMPLES) return
    const { buffer } = this.#block
    this.port.postMessage({ buffer, peak: this.#peak }, [buffer])
    this.#block = new Int16Array(BLOCK_SAMPLES)
    this.#filled = 0
    this.#peak = 0
  }
}

registerProcessor('pcm', PcmProcessor)
