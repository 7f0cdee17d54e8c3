import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Consumer, consumer, EXPRESS_5_TYPES, EXPRESS_APP } from './kit.js'

const NEST = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  'reflect-metadata',
  'rxjs',
  'supertest',
]

/** Like the template of Nest: CommonJS, decorators with metadata, and `node10`, the default for CommonJS. */
const TSCONFIG = {
  compilerOptions: {
    module: 'commonjs',
    target: 'es2021',
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    allowSyntheticDefaultImports: true,
    declaration: true,
    removeComments: true,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
    outDir: 'dist',
  },
  include: ['src'],
}

const FILES = {
  'src/mfa.ts': `
    import type { MfaOptions } from 'countersign'
    import { mfaTestKit } from 'countersign/testing'
    export interface Customer { readonly id: string; readonly phone: string }
    declare global { namespace Express { interface User extends Customer {} } }
    export const kit = mfaTestKit()
    export const bob: Customer = { id: 'bob', phone: '+447700900102' }
    export const options: MfaOptions<Customer> = {
      service: kit.service,
      factors: ({ phone }) => [{ method: 'sms', phone }],
    }`,
  'src/accounts.controller.ts': `
    import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common'
    import { MfaStrategy } from 'countersign'
    import { parseUser } from 'countersign/protocol'
    import { Request } from 'express'
    import { bob, Customer } from './mfa'
    @Controller()
    export class AccountsController {
      constructor(private readonly strategy: MfaStrategy<Customer>) {}
      @Post('login') @HttpCode(204)
      login(@Req() req: Request): Promise<void> {
        return new Promise((resolve, reject) => req.logIn(bob, (error) => (error ? reject(error) : resolve())))
      }
      @Get('account')
      account(@Req() req: Request) {
        return { id: req.user?.id, status: req.mfa?.status, strategy: this.strategy.name, kind: parseUser(bob.phone)?.kind }
      }
    }`,
  'src/app.module.ts': `
    import { MiddlewareConsumer, Module, NestModule } from '@nestjs/common'
    import { MfaStrategy, requireMfa } from 'countersign'
    import { AccountsController } from './accounts.controller'
    import { options } from './mfa'
    @Module({
      controllers: [AccountsController],
      providers: [{ provide: MfaStrategy, useFactory: () => new MfaStrategy(options) }],
    })
    export class AppModule implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(requireMfa()).forRoutes('account')
      }
    }`,
  'src/main.ts': `
    import 'reflect-metadata'
    import { NestFactory } from '@nestjs/core'
    import { mfaRouter, mfaSession } from 'countersign'
    import { signInWithMfa } from 'countersign/testing'
    import * as session from 'express-session'
    import * as passport from 'passport'
    import * as request from 'supertest'
    import { AppModule } from './app.module'
    import { bob, kit, options } from './mfa'
    async function bootstrap(): Promise<void> {
      passport.serializeUser((user, done) => done(null, user.id))
      passport.deserializeUser((_id, done) => done(null, bob))
      const app = await NestFactory.create(AppModule, { logger: ['error'] })
      app.use(session({ secret: 's', resave: false, saveUninitialized: false }), passport.session(), mfaSession(options))
      app.use('/mfa', mfaRouter(options))
      await app.init()
      const agent = request.agent(app.getHttpServer()).set('Accept', 'application/json')
      console.log((await agent.get('/account')).status)
      await agent.post('/login')
      console.log((await agent.get('/account')).body.code)
      await signInWithMfa(agent, { kit })
      console.log(JSON.stringify((await agent.get('/account')).body))
      await app.close()
    }
    void bootstrap()`,
}

describe('a Nest app compiled to CommonJS', () => {
  let project: Consumer

  beforeAll(async () => {
    const packages = Object.fromEntries(NEST.map((name) => [name, name]))
    const types = { '@types/supertest': '@types/supertest', '@types/superagent': '@types/superagent' }
    project = await consumer({ ...EXPRESS_APP, ...EXPRESS_5_TYPES, ...packages, ...types })
    await project.write('package.json', JSON.stringify({ private: true }))
    await project.write('tsconfig.json', JSON.stringify(TSCONFIG))
    await Promise.all(Object.entries(FILES).map(([path, text]) => project.write(path, text)))
  })

  afterAll(() => project.dispose())

  it('compiles with TypeScript 5.4, injects the strategy by its class, and guards a route', async () => {
    expect(await project.tsc54('tsconfig.json')).toBe('')
    const [signedOut, pending, account] = (await project.node('dist/main.js')).trim().split('\n')
    expect([signedOut, pending]).toEqual(['401', 'mfa_required'])
    expect(JSON.parse(account ?? '')).toEqual({
      id: 'bob',
      status: 'verified',
      strategy: 'mfa',
      kind: 'phone',
    })
  })
})
