/*
 * Examples for the description of the HTTP API.
 */

const id = 'UMO8h7MH5l-_U2aenrpM9ID4Af23BUvXEilftrUGZTc'

const credential = {
  id,
  rawId: id,
  type: 'public-key',
  authenticatorAttachment: 'cross-platform',
  clientExtensionResults: {},
} as const

/** A credential id. */
export const credentialIdExample: string = id

/** A new credential, as a browser writes it. */
export const registrationExample = {
  ...credential,
  response: {
    clientDataJSON:
      'eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoid1hKNXRTQlduaDFNcDBybGJoRWNCUVo3WV94aFF3WGU0bklxRDduUXZLayIsIm9yaWdpbiI6Imh0dHBzOi8vYXBwLmV4YW1wbGUuY29tIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ',
    attestationObject:
      'o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YViko3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUdFAAAAAQAAAAAAAAAAAAAAAAAAAAAAIFDDvIezB-Zfv1Nmnp66TPSA-AH9twVL1xIpX7a1BmU3pQECAyYgASFYILdlrGuScPE0aR49s4dyLyksHaONvStPaHAM-dTcn9-VIlggxlKTweoYn1_V5Ln6BM0cKGwINoPQrMPRQYnrmNJbK_0',
    transports: ['usb'],
  },
}

/** An assertion, as a browser writes it. */
export const assertionExample = {
  ...credential,
  response: {
    clientDataJSON:
      'eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoid1hKNXRTQlduaDFNcDBybGJoRWNCUVo3WV94aFF3WGU0bklxRDduUXZLayIsIm9yaWdpbiI6Imh0dHBzOi8vYXBwLmV4YW1wbGUuY29tIiwiY3Jvc3NPcmlnaW4iOmZhbHNlfQ',
    authenticatorData: 'o3mm9u6vuaVeN4wRgDTidR5oL6ufLTCrE9ISVYbOGUcFAAAAAg',
    signature:
      'MEUCIEVueni-qfpD30Zkcxd03iUMhpfyiqyLg_bgCTsjGMpGAiEAkQx-k6hrKSv8Qe1VuweJHkY7ruDiCK1PSmIkyd6NMKo',
    userHandle: 'n8G4u0yq3m2r1kYVb0s6Jc7e5pZQxT9dLhWf2AaXo1U',
  },
}
