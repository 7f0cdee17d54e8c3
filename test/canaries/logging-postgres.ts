import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../service/test/kit.js'
import { newFolder, ownPostgres } from '../../service/test/postgres-cluster.js'

/**
 * A PostgreSQL that logs every statement, without parameters, as the doctor of the service asks for: contacts are among them. Or with
 * them, to see that a search finds what is there.
 */
export async function loggingPostgres({ parameters = false } = {}) {
  const folder = newFolder()
  const length = parameters ? '-1' : '0'
  const server = await ownPostgres({
    logging_collector: 'on',
    log_directory: folder,
    log_filename: 'log',
    log_min_duration_statement: '0',
    log_parameter_max_length: length,
    log_parameter_max_length_on_error: length,
  })
  const log = () => readFileSync(join(folder, 'log'), 'utf8')
  return {
    url: server.url,
    /** Everything that was logged until now. */
    async readLog(): Promise<string> {
      await server.sql("SELECT 'the end of the tour'")
      await eventually(() => {
        if (!log().includes('the end of the tour')) throw new Error('The log is not written yet.')
      })
      return log()
    },
    async remove() {
      await server.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
