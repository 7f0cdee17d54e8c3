import type { Router } from 'express'
import { type AssetName, assets } from '../pages/assets.js'

/** Serves the style sheet and the scripts of the pages. */
export function addAssets(router: Router): void {
  for (const name of Object.keys(assets) as AssetName[]) {
    const { type, body } = assets[name]
    router.get(`/assets/${name}`, function mfaAsset(_req, res) {
      res.set({ 'Cache-Control': 'public, max-age=86400', 'X-Content-Type-Options': 'nosniff' })
      res.type(type).send(body)
    })
  }
}
