import type { VaultUser } from '../store/users.js'
import { html } from './html.js'
import { type Frame, layout } from './layout.js'
import { type PageMessage, pageMessageBox } from './page-message.js'

/** The data of the transcription page. */
export interface TranscribeView {
  readonly user: VaultUser
  readonly frame: Frame
  readonly message?: PageMessage
  readonly transcript?: { readonly text: string; readonly durationSeconds: number | undefined }
}

/** The page that turns a recording into text. Its script shows the progress; the form also works without it. */
export function transcribePage({ user, frame, message, transcript }: TranscribeView): string {
  return layout({
    title: 'Transcribe a recording',
    viewer: user,
    frame,
    body: html`<section class="card narrow">
  <h1>Transcribe a recording</h1>
  ${pageMessageBox(message)}
  <form method="post" action="/transcribe" enctype="multipart/form-data" class="stack" id="recording">
    <label>Audio or video file
      <input name="recording" type="file" accept="audio/*,video/*" aria-describedby="limits">
    </label>
    <label>Or its https address
      <input name="file" type="url" inputmode="url" maxlength="2048" placeholder="https://" autocomplete="off">
    </label>
    <p class="muted" id="limits">English, up to 10&nbsp;minutes and 25&nbsp;MB. The recording is not stored.</p>
    <button>Transcribe</button>
    <div class="progress" id="progress" hidden>
      <progress aria-labelledby="step"></progress>
      <p class="muted" id="step" role="status"></p>
    </div>
  </form>
  <div id="outcome" aria-live="polite">${
    transcript &&
    html`<h2>Transcript</h2>
${
  transcript.text === ''
    ? html`<p>No words were recognized. The recording must contain English speech.</p>`
    : html`<blockquote class="transcript">${transcript.text}</blockquote>`
}
${transcript.durationSeconds !== undefined && html`<p class="muted">${transcript.durationSeconds} seconds</p>`}`
  }</div>
</section>
<section class="card narrow" id="live" hidden>
  <h2>Or speak</h2>
  <p class="muted">English, up to 10&nbsp;minutes. What you say appears while you speak, and is not stored.</p>
  <div class="live-controls">
    <button id="live-start" type="button">Start speaking</button>
    <button id="live-stop" type="button" class="secondary" hidden>Stop</button>
    <meter id="live-level" min="0" max="1" value="0" aria-label="Microphone level" hidden></meter>
  </div>
  <p class="muted" id="live-step" role="status"></p>
  <p class="transcript live-text" id="live-text" hidden><span id="live-final" aria-live="polite"></span> <span id="live-partial" class="partial"></span></p>
</section>
<script type="module" src="/transcribe.js"></script>
<script type="module" src="/live.js"></script>`,
  })
}
