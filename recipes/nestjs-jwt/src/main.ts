import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import type { Mfa } from 'countersign'
import { AppModule } from './app.module'
import { MFA } from './mfa.provider'

async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
  // Before `app.listen`, so that it runs before the controllers.
  app.use(app.get<Mfa>(MFA).router)
  app.enableShutdownHooks()
  await app.listen(Number(process.env.PORT ?? 3000), 'localhost')
  console.log(`Listens on http://localhost:${app.getHttpServer().address().port}`)
}

void bootstrap()
