/** The table of users of options that name none. */
export const DEFAULT_USERS = 'users'

/** The name of a product: the option `product`, or else the whole `urls.path`. */
export function productName(settings: { product?: string | undefined; urls: { path: string } }): string {
  return settings.product ?? settings.urls.path
}

let products = 0

/** Counts the product of an options object. */
export function countProduct(): void {
  products++
}

/** Whether this process has one options object. */
export function isOnlyProduct(): boolean {
  return products === 1
}
