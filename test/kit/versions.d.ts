// Other versions of the host's packages, installed under other names.
declare module 'express4'
declare module 'passport06'
