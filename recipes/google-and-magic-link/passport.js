import passport from 'passport'
import { Strategy as GoogleStrategy } from 'passport-google-oauth20'
import { findByEmail, findById } from './users.js'

passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, findById(id) ?? false))

// Without addresses in the environment, the strategy uses Google's own.
const { GOOGLE_AUTHORIZATION_URL, GOOGLE_TOKEN_URL, GOOGLE_PROFILE_URL } = process.env

passport.use(
  new GoogleStrategy(
    {
      clientID: process.env.GOOGLE_CLIENT_ID ?? 'missing',
      clientSecret: process.env.GOOGLE_CLIENT_SECRET ?? 'missing',
      callbackURL: '/login/google/callback',
      scope: ['email'],
      state: true,
      ...(GOOGLE_AUTHORIZATION_URL && { authorizationURL: GOOGLE_AUTHORIZATION_URL }),
      ...(GOOGLE_TOKEN_URL && { tokenURL: GOOGLE_TOKEN_URL }),
      ...(GOOGLE_PROFILE_URL && { userProfileURL: GOOGLE_PROFILE_URL }),
    },
    (_accessToken, _refreshToken, profile, done) => {
      const verified = profile.emails?.find(({ verified }) => verified)
      done(null, (verified && findByEmail(verified.value)) ?? false)
    },
  ),
)

export { passport }
