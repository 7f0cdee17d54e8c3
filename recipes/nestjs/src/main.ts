import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import type { Mfa } from 'countersign'
import session from 'express-session'
import passport from 'passport'
import { AppModule } from './app.module'
import { MFA } from './mfa.provider'
import { UsersService } from './users.service'

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
  const users = app.get(UsersService)
  const mfa = app.get<Mfa>(MFA)

  passport.serializeUser((user, done) => done(null, user.id))
  passport.deserializeUser<string>((id, done) => done(null, users.findById(id) ?? false))

  // Before `app.listen`, so that these run before the controllers.
  app.use(
    session({
      secret: process.env.SESSION_SECRET ?? 'only for development',
      resave: false,
      saveUninitialized: false,
      cookie: { sameSite: 'lax', secure: process.env.NODE_ENV === 'production' },
    }),
  )
  app.use(passport.session())
  app.use(mfa.router)

  app.enableShutdownHooks()
  await app.listen(Number(process.env.PORT ?? 3000), 'localhost')
  console.log(`Listens on http://localhost:${app.getHttpServer().address().port}`)
}

void bootstrap()
