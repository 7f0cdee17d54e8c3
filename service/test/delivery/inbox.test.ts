import { storedInbox } from '../../src/messages/carriers/inbox.js'
import { CHANNELS } from '../../src/messages/message.js'
import { openStore } from '../../src/store/open.js'
import { deriveKeys } from '../../src/store/secrets/keys.js'
import { SECRET } from '../kit.js'
import { describeCarrier } from './contract.js'
import { VAULT } from './queued-messages.js'

describeCarrier('the development inbox', CHANNELS, async () => {
  const keys = deriveKeys(SECRET)
  const store = await openStore({ dataDir: 'memory://', keyId: keys.id })
  const inbox = storedInbox(store, keys)
  const arrived: { to: string[]; content: string }[] = []
  return {
    carrier: {
      ...inbox,
      async deliver(message, signal) {
        const receipt = await inbox.deliver(message, signal)
        const messages = await inbox.messages(VAULT.id)
        arrived.splice(0, arrived.length, ...messages.map(({ to, text }) => ({ to: [to], content: text })))
        // The inbox lists the newest message first.
        arrived.reverse()
        return receipt
      },
    },
    arrived,
    secrets: [],
    close: () => store.close(),
  }
})
