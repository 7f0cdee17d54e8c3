import { isIPv4, isIPv6 } from 'node:net'

/** The part that one subscriber controls of an address: an IPv4 address, mapped or not, or the /64 of an IPv6 address (R31). */
export function clientNetwork(address: string): string {
  if (!isIPv6(address)) return address
  const { hostname } = new URL(`http://[${address.split('%')[0]}]/`)
  const groups = expand(hostname.slice(1, -1))
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    const [high = 0, low = 0] = groups.slice(6)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The network that servers beside each other share: the /24 of an IPv4 address, or the /64 of an IPv6 address. */
export function serverNetwork(address: string): string {
  const network = clientNetwork(address)
  return isIPv4(network) ? network.replace(/\d+$/, '0/24') : network
}

function expand(address: string): number[] {
  const [head = '', tail] = address.split('::')
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  const before = read(head)
  const after = tail === undefined ? [] : read(tail)
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}
