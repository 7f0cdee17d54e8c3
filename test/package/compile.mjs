import { argv } from 'node:process'
import ts from 'typescript'

/*
 * Compiles the projects that are named by their `tsconfig.json` with TypeScript 5.4, and prints the errors in their own
 * files and in the declarations of the package. `tsc` would also check the declarations of all other packages, which takes
 * four times as long, and would start anew for each project. Projects that read a file in the same format share what was parsed.
 */
const parsed = new Map()

function hostOf(options) {
  const host = ts.createCompilerHost(options)
  return {
    ...host,
    getSourceFile(fileName, given, ...more) {
      const key = [fileName, given.languageVersion, given.impliedNodeFormat].join()
      const file = parsed.get(key) ?? host.getSourceFile(fileName, given, ...more)
      parsed.set(key, file)
      return file
    },
  }
}

for (const tsconfig of argv.slice(2)) {
  const { config } = ts.readConfigFile(tsconfig, ts.sys.readFile)
  const folder = ts.sys.getCurrentDirectory()
  const { fileNames, options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, folder)
  const program = ts.createProgram(fileNames, options, hostOf(options))
  const found = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...program
      .getSourceFiles()
      .filter(({ fileName }) => isOwn(fileName))
      .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ]
  if (!options.noEmit) program.emit()
  for (const { file, start = 0, messageText } of found) {
    const line = file ? `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1} ` : ''
    console.log(`${tsconfig}: ${line}${ts.flattenDiagnosticMessageText(messageText, '\n')}`)
  }
}

function isOwn(fileName) {
  return (
    !fileName.includes('/node_modules/') ||
    /\/node_modules\/(countersign|@countersign\/service)\//.test(fileName)
  )
}
