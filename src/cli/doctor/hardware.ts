/**
 * Checks on a host: whether its drivers find any devices, whether these can be passed on to guests, and what the host
 * needs to change cards.
 */
import { passableHere } from '../../drivers/passable.ts'
import { keptByKernel, offeredBy, surveyHost } from '../hardware/survey.ts'
import type { PciHere } from '../hardware/pciHere.ts'
import { counted, type Finding, ok, problem, warning } from './check.ts'

const CHECK = 'hardware'
const SCAN = 'accelerando device scan shows what each driver finds, and why not'

type FindProgram = (name: string) => Promise<string | null>
/** Programming, cleaning and the set-up of drivers hold a lock by this program (decision 0104). */
const FLOCK = 'flock'
const lockerHere = async (find: FindProgram) =>
  (await find(FLOCK)) === null
    ? [
        warning(
          `${FLOCK} is not installed: no card can be programmed or cleaned, and no playbook runs`,
          'install util-linux',
        ),
      ]
    : []

export const examineHardware = async (
  { io, sysfsRoot, options, enabledDrivers, look }: PciHere,
  find: FindProgram,
): Promise<readonly Finding[]> => {
  const drivers = await surveyHost({ io, options, enabledDrivers }, false)
  const offered = { offered: offeredBy(drivers), kept: keptByKernel(drivers) }
  const functions = (await look()).map(({ found }) => found)
  const found = drivers.map(({ driver, error, devices }) => {
    if (error !== null) return problem(`${driver} failed: ${error}`, SCAN)
    const usable = devices.filter(({ stub }) => stub !== true).length
    return usable > 0 ? ok(`${driver} finds ${counted(usable, 'device')}`) : warning(`${driver} finds nothing`, SCAN)
  })
  const passable = (await passableHere(io, sysfsRoot, offered, functions)).map(({ verdict, about, says, advice }) => ({
    verdict,
    says: `${about}: ${says}`,
    ...(advice === null ? {} : { advice }),
  }))
  return [...found, ...passable, ...(await lockerHere(find))].map((judged) => ({ check: CHECK, ...judged }))
}
