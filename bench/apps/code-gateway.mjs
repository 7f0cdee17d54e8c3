import { json } from 'node:stream/consumers'
import { serve } from '../kit/serve.mjs'

// A gateway that takes every message at once, in a process of its own: it must answer in time while the users keep theirs busy.
const codes = new Map()

serve(
  () => async (request, response) => {
    const { to, code } = await json(request)
    codes.set(to, [...(codes.get(to) ?? []), code])
    response.writeHead(204).end()
  },
  {
    /** The codes for an address. */
    codesTo: (address) => codes.get(address) ?? [],
    /** The addresses with their codes. */
    codes: () => [...codes],
  },
)
