/** Checks on a host: whether its drivers find any devices, and whether these can be passed on to guests. */
import { passableHere } from '../../drivers/passable.ts'
import { keptByKernel, offeredBy, surveyHost } from '../hardware/survey.ts'
import type { PciHere } from '../pciHere.ts'
import { counted, type Finding, ok, problem, warning } from './check.ts'

const CHECK = 'hardware'
const SCAN = 'accelerando device scan shows what each driver finds, and why not'

export const examineHardware = async ({
  io,
  sysfsRoot,
  options,
  enabledDrivers,
  look,
}: PciHere): Promise<readonly Finding[]> => {
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
  return [...found, ...passable].map((judged) => ({ check: CHECK, ...judged }))
}
