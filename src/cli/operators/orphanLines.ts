/** The text of `accelerando orphan`. */
import { counted } from '../doctor/check.ts'
import type { Collected, Orphans } from './apiShapes.ts'

type Orphan = Orphans['orphans'][number]
type Kept = Orphans['unclear'][number]

const lineOf = (verb: string, { instance_uuid: instance, hostname: host, arqs, changed_at: at }: Orphan): string =>
  `${verb} ${arqs.join(' ')} of instance ${instance} on ${host ?? '-'}, unchanged since ${at}`
const keptLine = ({ instance_uuid: instance, reason }: Kept): string => `kept: instance ${instance}: ${reason}`

export const orphanLines = ({ orphans, unclear, asked }: Pick<Orphans, 'orphans' | 'unclear' | 'asked'>) => [
  ...orphans.map((one) => lineOf('to delete:', one)),
  ...unclear.map(keptLine),
  `${counted(asked, 'instance')} with accelerators; ${orphans.length} not known to Nova`,
]
export const collectedLines = ({ orphans, kept }: Collected) => [
  ...orphans.map((one) => lineOf('deleted:', one)),
  ...kept.map(keptLine),
  `deleted the accelerator requests of ${counted(orphans.length, 'instance')}`,
]
