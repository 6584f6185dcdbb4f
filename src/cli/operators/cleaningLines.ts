/** Lines for a terminal about how an attach handle is cleaned between requests, and about its last cleaning. Pure. */
import { inOneLine } from '../../vocabulary/text.ts'
import type { HandleDetail } from './apiShapes.ts'

const lastCleaning = ({ under_way: underWay, last }: HandleDetail['cleaning']): string => {
  if (underWay) return 'under way'
  if (last === null) return '-'
  const end = last.exit_code === null ? 'did not end by itself' : `exit code ${last.exit_code}`
  return `${last.command} at ${last.finished_at}: ${end} after ${last.duration_ms} ms; sha256 of the output ${last.output_sha256}`
}
/** A control before release 0.3.0 does not return this field. */
export const cleaningFields = ({ cleaning }: Partial<HandleDetail>) =>
  cleaning && {
    'cleaning due': cleaning.due,
    'last cleaning': lastCleaning(cleaning),
    'its output': cleaning.last && inOneLine(cleaning.last.output),
  }
