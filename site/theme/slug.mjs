/** What a heading is called in an address, as GitHub does it: documents, the site and the tests of both use the same anchors. */
export function slugOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}
