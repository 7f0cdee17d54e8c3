import { digestOf } from '../digest.js'
import { OptionsError } from '../errors.js'
import { readObject } from '../json.js'
import { countProduct, productName } from '../products.js'
import type { Settings } from './settings.js'

/*
 * The products of this process, and where their accounts are. Two have them in one application of a service only if both say that their
 * users are the same: else customer 1 could set up a factor and show it as staff member 1 (R144).
 */

/** The product of an options object. */
interface Product {
  name: string
  /** The address and key of a service, its object, or a table of users of the service in this process. */
  readonly application: unknown
  /** The option `users`, if it was given. */
  readonly users: unknown
}

const products = new Set<Product>()
const productOf = new WeakMap<Settings, Product>()

/** Adds the product of options. `given`: as the host wrote them. @throws {OptionsError} as `nameProduct`. */
export function addProduct(settings: Settings, given: object, isEmbedded: boolean): void {
  const { service, users } = settings
  const theirs = 'baseUrl' in service ? `${service.baseUrl} ${digestOf(service.apiKey() ?? '')}` : service
  const application = isEmbedded ? users : theirs
  productOf.set(settings, { name: '', application, users: readObject(given).users })
  nameProduct(settings, productName(settings))
  countProduct()
}

/** Names the product of options. @throws {OptionsError} if another one has the same accounts, and may have other users. */
export function nameProduct(settings: Settings, name: string): void {
  const product = productOf.get(settings)
  if (!product) return
  const { application, users } = product
  for (const other of products) {
    const isApart = other === product || other.name === name || other.application !== application
    if (!isApart && (users === undefined || users !== other.users)) {
      throw new OptionsError([describeSharing(other.name, name)])
    }
  }
  product.name = name
  products.add(product)
}

function describeSharing(one: string, other: string): string {
  return `users is missing: the products ${one} and ${other} have the same accounts at the MFA service, so a user of one could be another user of the other. If both have the same table of users, add users: 'users' to both. If not, add a name to one, such as users: 'staff', and give it a key of another application if service is given`
}
