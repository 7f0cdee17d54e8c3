import { argv } from 'node:process'
import ts from 'typescript'

/*
 * Compiles the project in this folder with TypeScript 5.4, and prints the errors in its own files and in the declarations
 * of the package. `tsc` would also check the declarations of all other packages, which takes four times as long.
 */
const [, , tsconfig = 'tsconfig.json'] = argv
const { config } = ts.readConfigFile(tsconfig, ts.sys.readFile)
const { fileNames, options, errors } = ts.parseJsonConfigFileContent(
  config,
  ts.sys,
  ts.sys.getCurrentDirectory(),
)
const program = ts.createProgram(fileNames, options)
const own = program
  .getSourceFiles()
  .filter(
    ({ fileName }) => !fileName.includes('/node_modules/') || fileName.includes('/node_modules/countersign/'),
  )
const found = [
  ...errors,
  ...program.getOptionsDiagnostics(),
  ...program.getGlobalDiagnostics(),
  ...own.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]),
]
if (!options.noEmit) program.emit()
process.stdout.write(
  ts.formatDiagnostics(found, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => '\n',
  }),
)
