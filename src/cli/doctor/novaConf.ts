/**
 * Checks that no PCI device is offered here and used by Nova's compute service on the same machine: both would give it
 * to a guest.
 */
import { readConfFiles } from '../novaConf/files.ts'
import { novaDevicesIn } from '../novaConf/novaDevices.ts'
import type { ConfProblem } from '../oslo/osloFile.ts'
import { type Compared, compareWithNova } from '../novaConf/overlap.ts'
import { settingsOf } from '../oslo/settings.ts'
import { offeredBy, surveyHost } from '../hardware/survey.ts'
import type { PciHere } from '../hardware/pciHere.ts'
import { counted, type Finding, ok, problem } from './check.ts'

const CHECK = 'overlap with nova'
const ONE_PLACE = "offer it in one place: take it out of pci.passthrough_whitelist here, or out of Nova's configuration"
const COMPLETE = 'the comparison is not complete without it; accelerando device scan shows more'
const READ_ALL = 'correct it; the comparison is not complete without it'

const problemOf = ({ at, rule }: ConfProblem): Finding => ({ check: CHECK, ...problem(`${at}: ${rule}`, READ_ALL) })

export const judgeOverlap = ({ overlaps, offered, taken }: Compared): readonly Finding[] =>
  overlaps.length === 0
    ? [{ check: CHECK, ...ok(`${counted(offered, 'PCI function')} offered here, ${taken} by Nova, none by both`) }]
    : overlaps.map(({ address, ids, how }) => ({
        check: CHECK,
        ...problem(`${address} (${ids}) is offered here, and ${how}`, ONE_PLACE),
      }))

const NOTHING_HERE = ok('this machine offers no PCI function: none of its enabled drivers finds one that it may offer')

/** `paths`: files and folders of Nova's configuration. */
export const examineOverlap = async (here: PciHere, paths: readonly string[]): Promise<readonly Finding[]> => {
  const { files, problems } = readConfFiles(paths)
  const nova = novaDevicesIn(settingsOf(files))
  const unread = [...problems, ...nova.problems].map(problemOf)
  const drivers = await surveyHost({ io: here.io, options: here.options, enabledDrivers: here.enabledDrivers }, false)
  const failed = drivers.flatMap(({ driver, error }) =>
    error === null ? [] : [{ check: CHECK, ...problem(`${driver} failed: ${error}`, COMPLETE) }],
  )
  const offered = new Set(offeredBy(drivers).keys())
  const incomplete = [...unread, ...failed]
  if (offered.size === 0 && incomplete.length === 0) return [{ check: CHECK, ...NOTHING_HERE }]
  const compared = await compareWithNova({ ...here, seen: await here.look(), offered }, nova)
  // what could not be read may overlap, so "none by both" is said only where everything was read
  return incomplete.length > 0 && compared.overlaps.length === 0
    ? incomplete
    : [...incomplete, ...judgeOverlap(compared)]
}
