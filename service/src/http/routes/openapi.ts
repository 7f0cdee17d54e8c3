import type { RequestHandler } from 'express'
import { sendPage } from '../html-page.js'
import { docsPage } from '../openapi/docs-page.js'
import { type ApiDocument, documentText } from '../openapi/document.js'
import { baseUrlOf } from '../problem.js'
import { streamDocumentText } from '../streams/stream-document.js'

/** `GET /openapi.json`: the OpenAPI document for programs. */
export function documentRoute(document: ApiDocument): RequestHandler {
  const text = documentText(document)
  return function showDocument(_request, response) {
    response.type('application/vnd.oai.openapi+json;version=3.1').send(text)
  }
}

/** `GET /asyncapi.json`: the AsyncAPI document of transcription streams. */
export function streamDocumentRoute(publicUrl: string | undefined): RequestHandler {
  const text = streamDocumentText(publicUrl)
  return function showStreamDocument(_request, response) {
    response.type('application/vnd.aai.asyncapi+json;version=3.0.0').send(text)
  }
}

/** `GET /docs`: the OpenAPI document as a page. */
export function docsRoute(document: ApiDocument): RequestHandler {
  return function showDocs(_request, response) {
    sendPage(response, document.info.title, docsPage(document, baseUrlOf(response)))
  }
}
