/** The part of jsonwebtoken that the app uses. With `@types/jsonwebtoken`, this file is superfluous. */
declare module 'jsonwebtoken' {
  export function sign(payload: object, key: string, options: { issuer: string; expiresIn: string }): string
  export function verify(
    token: string,
    key: string,
    options: { issuer: string; algorithms: ['HS256'] },
  ): object
}
