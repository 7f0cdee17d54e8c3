#!/bin/sh
# install-sherpa-onnx.sh <new folder> [parakeet-tdt-0.6b-v3 | whisper-base.en]
#
# Installs a transcription engine: sherpa-onnx (Apache 2.0) from the npm registry, and a model from its releases. Nothing is unpacked
# unless its SHA-256 is the one below. Then start the service with SERVICE_TRANSCRIBER=sherpa-onnx:<folder>.
set -eu

folder=${1:?Name a new folder for the engine.}
case ${2:-parakeet-tdt-0.6b-v3} in
  parakeet-tdt-0.6b-v3) # 487 MB; NVIDIA, CC BY 4.0
    model=sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8
    hash=5793d0fd397c5778d2cf2126994d58e9d56b1be7c04d13c7a15bb1b4eafb16bf
    languages=bg,hr,cs,da,nl,en,et,fi,fr,de,el,hu,it,lv,lt,mt,pl,pt,ro,ru,sk,sl,es,sv,uk
    ;;
  whisper-base.en) # 209 MB; OpenAI, MIT
    model=sherpa-onnx-whisper-base.en
    hash=475bc7052ce299c007f6d5d5407ba8601f819a2867f6eecee510ed17df581542
    languages=en
    ;;
  *)
    echo "There is no model $2: choose parakeet-tdt-0.6b-v3 or whisper-base.en." >&2
    exit 1
    ;;
esac
# The detector of speech, by Silero, MIT.
detector_hash=9e2449e1087496d8d4caba907f23e0bd3f78d91fa552479bb9c23ac09cbb1fd6
# A mirror must have the same files.
releases=${SHERPA_ONNX_RELEASES:-https://github.com/k2-fsa/sherpa-onnx/releases/download/asr-models}

mkdir "$folder"
trap 'rm -rf "$folder"' EXIT
download() {
  curl --fail --silent --show-error --location --output "$folder/$1" "$releases/$1"
  echo "$2  $folder/$1" | sha256sum --check --quiet
}
download silero_vad.onnx "$detector_hash"
download "$model.tar.bz2" "$hash"
tar --extract --bzip2 --file "$folder/$model.tar.bz2" --directory "$folder"
rm "$folder/$model.tar.bz2"
mv "$folder/$model" "$folder/model"
echo '{ "private": true }' > "$folder/package.json"
npm install --prefix "$folder" --no-audit --no-fund sherpa-onnx-node@1.13.8
trap - EXIT
echo "Start the service with SERVICE_TRANSCRIBER=sherpa-onnx:$folder SERVICE_TRANSCRIBER_LANGUAGES=$languages"
