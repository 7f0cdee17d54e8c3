/*
 * The declarations of `qr/decode.js` name these types of browsers, whose library would let all of `src` use what Node lacks.
 */
type DOMRectReadOnly = never
type ImageBitmapSource = never
