import { connect, type Socket } from 'node:net'

/** A response to a command: `[1, id, error, result]`. The first packet is a greeting. */
type Packet = readonly [kind: 1, id: number, error: { readonly message: string } | null, result: unknown]

/** Packets are a length in bytes, a colon and JSON. */
async function* packetsFrom(socket: Socket): AsyncGenerator<Packet> {
  let rest = Buffer.alloc(0)
  for await (const part of socket) {
    rest = Buffer.concat([rest, part])
    for (;;) {
      const start = rest.indexOf(':') + 1
      const end = start + Number(rest.subarray(0, start - 1))
      if (start === 0 || rest.length < end) break
      yield JSON.parse(String(rest.subarray(start, end)))
      rest = rest.subarray(end)
    }
  }
}

/** Sends Firefox commands of WebDriver that WebDriver BiDi lacks, over its Marionette protocol. Playwright has opened the session. */
export async function marionette(port: number) {
  const socket = connect(port, '127.0.0.1')
  const packets = packetsFrom(socket)
  await packets.next()
  let id = 0
  return {
    async send(command: string, parameters: object): Promise<unknown> {
      const text = JSON.stringify([0, ++id, command, parameters])
      socket.write(`${Buffer.byteLength(text)}:${text}`)
      const { value } = await packets.next()
      const [, , error, result] = value as Packet
      if (error) throw new Error(`Firefox refused ${command}: ${error.message}`)
      return result
    },
    close: () => void socket.destroy(),
  }
}
