import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  type CommandResult,
  type Consumer,
  consumer,
  EXPRESS_APP,
  type Installed,
  installService,
  ROOT,
} from './kit.js'

const run = promisify(execFile)

/** An app that was not written for Countersign, with both packages installed. */
export interface ForeignApp extends Consumer {
  /** Runs `countersign` in its folder. */
  run(...args: readonly string[]): Promise<CommandResult>
}

/** Creates an app of these files and packages. */
export async function foreignApp(
  files: Readonly<Record<string, string>>,
  installed: Installed,
): Promise<ForeignApp> {
  const project = await consumer({
    ...EXPRESS_APP,
    '@electric-sql/pglite': '@electric-sql/pglite',
    ...installed,
  })
  await installService(project)
  for (const [path, text] of Object.entries(files)) await project.write(path, text)
  return {
    ...project,
    run: (...args) => project.countersign(args, { APP_PASSWORD: PASSWORD }),
  }
}

/** Replaces text of a file, which must have it. */
export async function edit(
  { folder, write }: ForeignApp,
  path: string,
  from: string,
  to: string,
): Promise<void> {
  const text = await readFile(join(folder, path), 'utf8')
  if (!text.includes(from)) throw new Error(`${path} has no ${from}`)
  await write(
    path,
    text.replace(from, () => to),
  )
}

/** Does what init prints, as a developer who copies each part. Returns the paths of the files. */
export async function follow(app: ForeignApp, printed: string): Promise<string[]> {
  const changed: string[] = []
  const added: { readonly path: string; readonly at: number; readonly lines: readonly string[] }[] = []
  const parts = printed.matchAll(/^Add to ([^\s,:]+), (.+):\n\n((?: {4}.*\n)+)/gm)
  for (const [, path = '', where = '', block = ''] of parts) {
    const lines = block
      .trimEnd()
      .split('\n')
      .map((line) => line.slice(4))
    const at = Number(/ in line (\d+)$/.exec(where)?.[1] ?? 0)
    const above = added.filter((other) => other.path === path && other.at <= at)
    const all = (await readFile(join(app.folder, path), 'utf8')).split('\n')
    all.splice(at + above.flatMap((other) => other.lines).length, 0, ...lines)
    await app.write(path, all.join('\n'))
    added.push({ path, at, lines })
    changed.push(path)
  }
  return changed
}

/** Runs the check that init prints, with what only a developer knows in place of each "…". */
export function runPrintedCheck(
  app: ForeignApp,
  printed: string,
  { user, protectedPath = '/', start }: { user: string; protectedPath?: string; start?: string },
): Promise<CommandResult> {
  const [, line = ''] = /^ {4}npx --no countersign (check .*)$/m.exec(printed) ?? []
  const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '')
  const filled = args.map((arg) => arg.replace('=…', `=${user}`).replace(/^\/…$/, protectedPath))
  if (start !== undefined) filled[filled.indexOf('--start') + 1] = start
  return app.run(...filled)
}

export const PASSWORD = 'a good password'

/** Packages that the apps of Express's generator have. */
export const GENERATED_APP: Installed = {
  express: 'express4',
  'cookie-parser': 'cookie-parser',
  debug: 'debug',
  morgan: 'morgan',
  'passport-local': 'passport-local',
}

/** The files that Express's generator writes. */
export async function generate(folder: string): Promise<void> {
  const generator = join(ROOT, 'node_modules/express-generator/bin/express-cli.js')
  await run(process.execPath, [generator, '--no-view', '--git', '--force', folder])
}

/** As Passport's own example is built: CSRF tokens before Passport, `authenticate('session')`, users without an email address. */
export const PASSPORT_EXAMPLE = {
  'package.json': JSON.stringify({ name: 'todos', private: true, scripts: { start: 'node ./bin/www' } }),
  '.gitignore': 'node_modules',
  'bin/www': `#!/usr/bin/env node

var app = require('../app');
var http = require('http');

var server = http.createServer(app);
server.listen(process.env.PORT || '3000');
server.on('listening', function() {
  console.log('Listens on http://localhost:' + server.address().port);
});
`,
  'app.js': `var express = require('express');
var cookieParser = require('cookie-parser');
var session = require('express-session');
var csrf = require('csurf');
var passport = require('passport');
var logger = require('morgan');

var indexRouter = require('./routes/index');
var authRouter = require('./routes/auth');

var app = express();

app.use(logger('dev'));
app.use(express.urlencoded({ extended: false }));
app.use(cookieParser());
app.use(session({
  secret: 'a secret of the app',
  resave: false,
  saveUninitialized: false
}));
app.use(csrf());
app.use(passport.authenticate('session'));
app.use(function(req, res, next) {
  res.locals.messages = req.session.messages || [];
  req.session.messages = [];
  res.locals.csrfToken = req.csrfToken();
  next();
});

app.use('/', indexRouter);
app.use('/', authRouter);

module.exports = app;
`,
  'routes/index.js': `var express = require('express');
var ensureLogIn = require('connect-ensure-login').ensureLoggedIn;

var ensureLoggedIn = ensureLogIn();
var router = express.Router();

router.get('/', function(req, res, next) {
  if (!req.user) { return res.send('<a href="/login">Sign in</a>'); }
  next();
}, function(req, res) {
  res.send('The list of ' + req.user.username);
});
router.get('/active', ensureLoggedIn, function(req, res) {
  res.send('The open items of ' + req.user.username);
});
router.post('/:id(\\\\d+)/delete', ensureLoggedIn, function(req, res) {
  res.redirect('/');
});

module.exports = router;
`,
  'routes/auth.js': `var express = require('express');
var passport = require('passport');
var LocalStrategy = require('passport-local');

var users = [{ id: 3, username: 'bob', password: 'a good password' }];

passport.use(new LocalStrategy(function verify(username, password, cb) {
  var user = users.find(function(one) { return one.username === username; });
  if (!user || user.password !== password) { return cb(null, false, { message: 'Incorrect.' }); }
  return cb(null, user);
}));

passport.serializeUser(function(user, cb) {
  process.nextTick(function() {
    cb(null, { id: user.id, username: user.username });
  });
});

passport.deserializeUser(function(user, cb) {
  process.nextTick(function() {
    return cb(null, user);
  });
});

function form(action, token) {
  return '<form action="' + action + '" method="post"><input name="username"><input name="password">' +
    '<input type="hidden" name="_csrf" value="' + token + '"></form>';
}

var router = express.Router();

router.get('/login', function(req, res) {
  res.send(form('/login/password', res.locals.csrfToken));
});
router.post('/login/password', passport.authenticate('local', {
  successReturnToOrRedirect: '/',
  failureRedirect: '/login',
  failureMessage: true
}));
router.post('/logout', function(req, res, next) {
  req.logout(function(err) {
    if (err) { return next(err); }
    res.redirect('/');
  });
});
router.get('/signup', function(req, res) {
  res.send(form('/signup', res.locals.csrfToken));
});
router.post('/signup', function(req, res, next) {
  var user = { id: users.length + 3, username: req.body.username, password: req.body.password };
  users.push(user);
  req.login(user, function(err) {
    if (err) { return next(err); }
    res.redirect('/');
  });
});

module.exports = router;
`,
}

/** As a much copied login is built: routes below `/users`, flash messages, `resave: true`, a button for a provider. */
export const ROUTES_BELOW_USERS = {
  'package.json': JSON.stringify({ name: 'passport-login', scripts: { start: 'node app.js' } }),
  'config/passport.js': `const LocalStrategy = require('passport-local').Strategy;
const users = [{ _id: '65f0c2', name: 'Bob', email: 'bob@example.com', password: 'a good password' }];

module.exports = function(passport) {
  passport.use(
    new LocalStrategy({ usernameField: 'email' }, (email, password, done) => {
      const user = users.find((one) => one.email === email);
      if (!user) return done(null, false, { message: 'That email is not registered' });
      if (user.password !== password) return done(null, false, { message: 'Password incorrect' });
      return done(null, user);
    })
  );
  passport.serializeUser(function(user, done) {
    done(null, user._id);
  });
  passport.deserializeUser(function(id, done) {
    done(null, users.find((one) => one._id === id) || false);
  });
};
`,
  'config/auth.js': `module.exports = {
  ensureAuthenticated: function(req, res, next) {
    if (req.isAuthenticated()) return next();
    req.session.flash = 'Please log in to view that resource';
    res.redirect('/users/login');
  },
  forwardAuthenticated: function(req, res, next) {
    if (!req.isAuthenticated()) return next();
    res.redirect('/dashboard');
  }
};
`,
  'app.js': `const express = require('express');
const passport = require('passport');
const session = require('express-session');

const app = express();
require('./config/passport')(passport);

app.use(express.urlencoded({ extended: true }));
app.use(
  session({
    secret: 'secret',
    resave: true,
    saveUninitialized: true
  })
);
app.use(passport.initialize());
app.use(passport.session());
app.use(function(req, res, next) {
  res.locals.flash = req.session.flash || '';
  delete req.session.flash;
  next();
});

app.use('/', require('./routes/index.js'));
app.use('/users', require('./routes/users.js'));

app.listen(process.env.PORT || 5000, '127.0.0.1');
`,
  'routes/index.js': `const express = require('express');
const router = express.Router();
const { ensureAuthenticated, forwardAuthenticated } = require('../config/auth');

router.get('/', forwardAuthenticated, (req, res) => res.send(res.locals.flash + '<a href="/users/login">Login</a>'));
router.get('/auth/provider', (req, res) => res.redirect('https://provider.example/authorize?state=' + Math.random()));
router.get('/dashboard', ensureAuthenticated, (req, res) =>
  res.send('Welcome ' + req.user.name + ' <a href="/users/logout">Logout</a>')
);

module.exports = router;
`,
  'routes/users.js': `const express = require('express');
const router = express.Router();
const passport = require('passport');
const { forwardAuthenticated } = require('../config/auth');

const FORM = '<form action="/users/login" method="POST"><input name="email"><input name="password"></form>';
router.get('/login', forwardAuthenticated, (req, res) =>
  res.send(res.locals.flash + FORM + '<a href="/users/register">Register</a> <a href="/auth/provider">Provider</a>')
);
router.get('/register', forwardAuthenticated, (req, res) => res.send(res.locals.flash + 'Register'));
router.post('/register', (req, res) => {
  res.redirect('/users/login');
});
router.post('/login', (req, res, next) => {
  passport.authenticate('local', {
    successRedirect: '/dashboard',
    failureRedirect: '/users/login'
  })(req, res, next);
});
router.get('/logout', (req, res, next) => {
  req.logout((error) => {
    if (error) return next(error);
    req.session.flash = 'You are logged out';
    res.redirect('/users/login');
  });
});

module.exports = router;
`,
}

/** As socket.io's example with Passport is built: the session and Passport for the handshake, and a user without an email address. */
export const SOCKET_IO_EXAMPLE = {
  'package.json': JSON.stringify({ name: 'chat', scripts: { start: 'node index.js' } }),
  'index.js': `const express = require("express");
const { createServer } = require("node:http");
const { Server } = require("socket.io");
const session = require("express-session");
const passport = require("passport");
const LocalStrategy = require("passport-local").Strategy;

const app = express();
const httpServer = createServer(app);
const sessionMiddleware = session({ secret: "changeit", resave: false, saveUninitialized: true });

app.use(sessionMiddleware);
app.use(express.urlencoded({ extended: false }));
app.use(passport.initialize());
app.use(passport.session());

app.get("/", (req, res) => (req.user ? res.send("Chat of " + req.user.username) : res.redirect("/login")));
app.get("/login", (req, res) => {
  if (req.user) return res.redirect("/");
  res.send('<form action="/login" method="post"><input name="username"><input name="password"></form>');
});
app.post("/login", passport.authenticate("local", { successRedirect: "/", failureRedirect: "/" }));

passport.use(
  new LocalStrategy((username, password, done) => {
    if (username === "john" && password === "a good password") return done(null, { id: 1, username });
    return done(null, false);
  }),
);
passport.serializeUser((user, cb) => cb(null, user));
passport.deserializeUser((user, cb) => cb(null, user));

const io = new Server(httpServer);

function onlyForHandshake(middleware) {
  return (req, res, next) => {
    const isHandshake = req._query.sid === undefined;
    if (isHandshake) middleware(req, res, next);
    else next();
  };
}

io.engine.use(onlyForHandshake(sessionMiddleware));
io.engine.use(onlyForHandshake(passport.session()));
io.engine.use(
  onlyForHandshake((req, res, next) => {
    if (req.user) {
      next();
    } else {
      res.writeHead(401);
      res.end();
    }
  }),
);

httpServer.listen(process.env.PORT || 3000, "127.0.0.1", () => {
  console.log("Listens on http://localhost:" + httpServer.address().port);
});
`,
}

/** Compiles with the TypeScript of this repository. */
const TSC = `node ${join(ROOT, 'node_modules/typescript/bin/tsc')}`

/** ES modules in TypeScript, strict, whose login takes JSON. */
export const TYPESCRIPT_ESM = {
  'package.json': JSON.stringify({
    name: '@acme/orders-api',
    type: 'module',
    private: true,
    scripts: { build: TSC, start: 'node dist/server.js' },
    devDependencies: { '@types/passport': '*' },
  }),
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      target: 'es2022',
      module: 'nodenext',
      strict: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      verbatimModuleSyntax: true,
      rootDir: 'src',
      outDir: 'dist',
      types: ['node'],
    },
    include: ['src'],
  }),
  '.gitignore': 'node_modules/\ndist/\n.env*\n',
  'src/users.ts': `export interface Customer {
  readonly id: string
  readonly name: string
  readonly email: string
}

declare global {
  namespace Express {
    interface User extends Customer {}
  }
}

const BOB: Customer = { id: 'c-1', name: 'bob', email: 'bob@example.com' }

export const findById = (id: string): Customer | undefined => (id === BOB.id ? BOB : undefined)

export const findByPassword = (name: string, password: string): Customer | undefined =>
  name === BOB.name && password === 'a good password' ? BOB : undefined
`,
  'src/server.ts': `import express, { type NextFunction, type Request, type Response } from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'
import { findById, findByPassword } from './users.js'

passport.use(new LocalStrategy((name, password, done) => done(null, findByPassword(name, password) ?? false)))
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser<string>((id, done) => done(null, findById(id) ?? false))

const app = express()
app.use(express.json())
app.use(
  session({
    secret: 'only for this test',
    resave: false,
    saveUninitialized: false,
  }),
)
app.use(passport.session()) // restores the user

/** The guard of all routes that need a user. */
function signedIn(req: Request, res: Response, next: NextFunction): void {
  if (req.user) next()
  else res.status(401).json({ error: 'Sign in first.' })
}

app.post('/api/session', passport.authenticate('local'), (req, res) => {
  res.json({ name: req.user?.name })
})
app.get('/api/orders', signedIn, (req, res) => {
  res.json({ orders: [], of: req.user?.name })
})

app.listen(Number(process.env.PORT ?? 3000))
`,
}

/** Guards of `connect-ensure-login`, a session in a file of its own, ids of MongoDB, tabs, double quotes, and lines of Windows. */
export const ENSURE_LOGIN = Object.fromEntries(
  Object.entries({
    'package.json': JSON.stringify({ name: 'members_area', main: 'index.js' }),
    '.env': 'GREETING=Welcome',
    'config/mfa.js': '// Something else of this app.\n',
    'config/session.js': `"use strict"
const session = require("express-session")
const passport = require("passport")

module.exports = function (server) {
	server.use(session({ secret: "a secret of the app", resave: false, saveUninitialized: false }))
	server.use(passport.initialize(), passport.session())
}
`,
    'routes/auth.js': `const express = require("express")
const passport = require("passport")
const { Strategy } = require("passport-local")

const members = [{ _id: "65f0c1", email: "ann@example.com", password: "a good password" }]

passport.use(
	new Strategy({ usernameField: "email" }, (email, password, done) => {
		done(null, members.find((one) => one.email === email && one.password === password) ?? false)
	}),
)
passport.serializeUser((member, done) => done(null, member._id))
passport.deserializeUser((id, done) => done(null, members.find((one) => one._id === id) ?? false))

const router = express.Router()
router.get("/signin", (req, res) => {
	res.send('<form method="post"><input name="email"><input name="password"></form>')
})
router.post(
	"/signin",
	passport.authenticate("local", { successReturnToOrRedirect: "/account", failureRedirect: "/auth/signin" }),
)
router.post("/signout", (req, res, next) => {
	req.logout((error) => (error ? next(error) : res.redirect("/auth/signin")))
})
module.exports = router
`,
    'index.js': `const express = require("express")
const { ensureLoggedIn } = require("connect-ensure-login")

const server = express()
server.use(express.urlencoded({ extended: false }))
require("./config/session")(server)
server.use("/auth", require("./routes/auth"))
server.get("/account", ensureLoggedIn("/auth/signin"), (req, res) => res.send(req.user.email))
server.listen(process.env.PORT || 3000)
`,
  }).map(([path, text]) => [path, text.replaceAll('\n', '\r\n')]),
)

/** A repository whose root is CommonJS, with an app of ES modules in a workspace. */
export const MONOREPO = {
  'package.json': JSON.stringify({ name: 'acme', private: true, workspaces: ['packages/*'] }),
  'packages/api/package.json': JSON.stringify({
    name: '@acme/api',
    type: 'module',
    scripts: { start: 'node src/server.js' },
    dependencies: { express: '*', 'express-session': '*', passport: '*', 'passport-local': '*' },
  }),
  'packages/api/src/server.js': `import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy as LocalStrategy } from 'passport-local'

const bob = { id: 'c-1', email: 'bob@example.com' }
passport.use(
  new LocalStrategy((name, password, done) => done(null, name === 'bob' && password === 'a good password' && bob)),
)
passport.serializeUser((user, done) => done(null, user.id))
passport.deserializeUser((id, done) => done(null, id === bob.id && bob))

const app = express()
app.use(express.json())
app.use(session({ secret: 'only for this test', resave: false, saveUninitialized: false }))
app.use(passport.session())
app.post('/api/session', passport.authenticate('local'), (req, res) => res.json({}))
app.get('/api/orders', (req, res) => res.status(req.user ? 200 : 401).json({ orders: [] }))
app.listen(3000)
`,
}

/** Generates an app as `nest new` does, with the schematics that it uses. */
export async function generateNest(folder: string): Promise<void> {
  const script = `
    const { NodeWorkflow } = require('@angular-devkit/schematics/tools')
    const options = { name: '.', directory: '.', language: 'ts', packageManager: 'npm', strict: true }
    new NodeWorkflow(process.argv[1], { resolvePaths: [process.cwd()] })
      .execute({ collection: '@nestjs/schematics', schematic: 'application', options })
      .subscribe({ error: (error) => { console.error(error); process.exitCode = 1 } })`
  await run(process.execPath, ['-e', script, folder], { cwd: ROOT })
}

/** The lines that a developer adds to the app of Nest for a login with a session. */
export const NEST_LOGIN = {
  'src/auth.controller.ts': `import { Body, Controller, Get, HttpCode, Post, Req, UnauthorizedException } from '@nestjs/common';
import type { Request } from 'express';
import { USERS } from './users';

@Controller('auth')
export class AuthController {
  @Post('login')
  @HttpCode(200)
  async login(@Req() req: Request, @Body() body: { username?: string; password?: string }) {
    const user = USERS.find((one) => one.username === body.username && one.password === body.password);
    if (!user) throw new UnauthorizedException();
    await new Promise<void>((resolve, reject) => {
      req.logIn(user, (error) => (error ? reject(error) : resolve()));
    });
    return { username: user.username };
  }

  @Get('profile')
  profile(@Req() req: Request) {
    if (!req.user) throw new UnauthorizedException();
    return req.user;
  }
}
`,
  'src/users.ts': `export const USERS = [{ userId: 1, username: 'bob', password: 'a good password' }];
`,
}

/** Compiles the app of Nest and runs it, as its \`npm start\` does with the command line of Nest. */
export const START_NEST = `${TSC} -p tsconfig.build.json --baseUrl null --rootDir src && node dist/main.js`
