/** An event that happens once, and a promise that resolves then. */
export function signal() {
  let give = () => {}
  const given = new Promise<void>((resolve) => {
    give = resolve
  })
  return { given, give }
}

/** Work of the host that lasts until it is released. */
export function heldWork() {
  const arrived = signal()
  const released = signal()
  const work = async () => {
    arrived.give()
    await released.given
  }
  return { work, arrived: arrived.given, release: released.give }
}
