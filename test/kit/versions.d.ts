// The other versions of what a host brings, installed under names of their own.
declare module 'express4'
declare module 'passport06'
