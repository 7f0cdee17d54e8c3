"""Transcribes audio from standard input while it arrives: PCM, 16 kHz, 16 bits, one channel.

Writes one JSON object per line to standard output: `ready` once, then `partial` and `final` pieces. Needs Debian's packages
python3-pocketsphinx and pocketsphinx-en-us.
"""

import json
import os

import pocketsphinx

MODEL = '/usr/share/pocketsphinx/model/en-us/'
BYTES_PER_MS = 32
# 100 ms: the decoder notices the end of speech within one block.
BLOCK_BYTES = 100 * BYTES_PER_MS
# The decoder's defaults: it needs 200 ms of speech to notice its beginning, and 500 ms of silence to notice its end.
ONSET_MS = 200
PAUSE_MS = 500


def write(**piece):
    os.write(1, (json.dumps(piece) + '\n').encode())


def create_decoder():
    config = pocketsphinx.Decoder.default_config()
    config.set_string('-hmm', MODEL + 'en-us')
    config.set_string('-lm', MODEL + 'en-us.lm.bin')
    config.set_string('-dict', MODEL + 'cmudict-en-us.dict')
    config.set_string('-logfn', '/dev/null')
    return pocketsphinx.Decoder(config)


def text_of(decoder):
    hypothesis = decoder.hyp()
    return hypothesis.hypstr if hypothesis else ''


def main():
    decoder = create_decoder()
    write(type='ready')
    decoder.start_utt()
    heard_ms = 0
    speech_since = None
    written = ''

    def finish(end_ms):
        decoder.end_utt()
        text = text_of(decoder)
        if text:
            start_ms = speech_since or 0
            write(type='final', text=text, start_ms=start_ms, end_ms=max(end_ms, start_ms))

    rest = b''
    while True:
        chunk = os.read(0, BLOCK_BYTES)
        if not chunk:
            break
        chunk = rest + chunk
        whole = len(chunk) - len(chunk) % 2
        rest = chunk[whole:]
        decoder.process_raw(chunk[:whole], False, False)
        heard_ms += whole // BYTES_PER_MS
        if decoder.get_in_speech():
            if speech_since is None:
                speech_since = max(heard_ms - ONSET_MS, 0)
            text = text_of(decoder)
            if text and text != written:
                written = text
                write(type='partial', text=text)
        elif speech_since is not None:
            finish(heard_ms - PAUSE_MS)
            decoder.start_utt()
            speech_since = None
            written = ''
    finish(heard_ms)
    # The binding prints to standard output when the interpreter exits in an orderly way.
    os._exit(0)


main()
