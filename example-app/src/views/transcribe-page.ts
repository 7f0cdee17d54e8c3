import type { VaultUser } from '../store/users.js'
import { html } from './html.js'
import { type Around, layout } from './layout.js'
import { type Notice, noticeBox } from './notice.js'

/** What the page about recordings shows. */
export interface TranscribeView {
  readonly user: VaultUser
  readonly around: Around
  readonly notice?: Notice
  readonly transcript?: { readonly text: string; readonly durationSeconds: number | undefined }
}

/** The page that turns a recording into text. Its script shows progress; without it the form works as forms do. */
export function transcribePage({ user, around, notice, transcript }: TranscribeView): string {
  return layout({
    title: 'Transcribe a recording',
    viewer: user,
    around,
    body: html`<section class="card narrow">
  <h1>Transcribe a recording</h1>
  ${noticeBox(notice)}
  <form method="post" action="/transcribe" enctype="multipart/form-data" class="stack" id="recording">
    <label>A file
      <input name="recording" type="file" accept="audio/*,video/*" aria-describedby="limits">
    </label>
    <label>Or the address of one
      <input name="file" type="url" inputmode="url" maxlength="2048" placeholder="https://" autocomplete="off">
    </label>
    <p class="muted" id="limits">English, up to 10&nbsp;minutes and 25&nbsp;MB. Nothing is kept.</p>
    <button>Transcribe</button>
    <div class="progress" id="progress" hidden>
      <progress aria-labelledby="step"></progress>
      <p class="muted" id="step" role="status"></p>
    </div>
  </form>
  <div id="outcome" aria-live="polite">${
    transcript &&
    html`<h2>What was said</h2>
<blockquote class="transcript">${transcript.text}</blockquote>
${transcript.durationSeconds !== undefined && html`<p class="muted">${transcript.durationSeconds} seconds</p>`}`
  }</div>
</section>
<script type="module" src="/transcribe.js"></script>`,
  })
}
