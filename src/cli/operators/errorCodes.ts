/** The error codes of the API as a table: with which status and exit code they come, what they mean, and what to do. */
import { EXPLAINED } from '../../http/explained.ts'
import { FAULT_STATUSES, type HttpFault, STATUS_TITLES } from '../../http/faults.ts'
import { EXITS, exitOfStatus } from '../exits.ts'

export type ErrorCode = {
  readonly code: HttpFault['kind']
  readonly status: number
  readonly title: string
  /** With which code a command ends that is refused so. */
  readonly exit_code: number
  /** In Markdown, as is `mend`, with links that begin at the page of the codes. */
  readonly means: string
  readonly mend: string
}
const KINDS = Object.keys(EXPLAINED) as HttpFault['kind'][]

export const ERROR_CODES: readonly ErrorCode[] = KINDS.map((code) => {
  const status = FAULT_STATUSES[code]
  const title = `${status} ${STATUS_TITLES[status] ?? ''}`.trim()
  return { code, status, title, exit_code: EXITS[exitOfStatus(status)].code, ...EXPLAINED[code] }
}).toSorted((one, other) => one.status - other.status || (one.code < other.code ? -1 : 1))
